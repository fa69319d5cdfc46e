import { Fragment } from 'preact';
import type { Schemas } from '../api.ts';

type Call = Schemas['TracedCall'];

/** Returns whether trace logging was on for a call. */
export function isTraced({ requestHeaders, responseHeaders }: Call): boolean {
  return requestHeaders !== undefined || responseHeaders !== undefined;
}

/** Shows what trace logging stored about a call. */
export function Messages({ call }: { readonly call: Call }) {
  return (
    <details class="messages">
      <summary>Headers and bodies</summary>
      <div class="columns">
        <Message title="Sent" headers={call.requestHeaders} body={call.requestBody} />
        <Message title="Answered" headers={call.responseHeaders} body={call.responseBody} />
      </div>
    </details>
  );
}

interface MessageProps {
  readonly title: string;
  readonly headers: Call['requestHeaders'];
  readonly body: string | undefined;
}

function Message({ title, headers, body }: MessageProps) {
  return (
    <section class="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {headers === undefined ? (
        <p class="soft">There was no response.</p>
      ) : (
        <dl class="facts small">
          {Object.entries(headers).map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{value}</code>
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      {body !== undefined && <pre tabIndex={0}>{indent(body)}</pre>}
    </section>
  );
}

/** Indents JSON where that changes nothing else in it: no number loses digits. */
function indent(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
