import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/time.tsx';
import { type ConnectSession, PATH } from './list.tsx';

/** Shows the link of a session that was just created, and how a product opens it. */
export function Link({ session: { id, url = '', expiresDate } }: { readonly session: ConnectSession }) {
  const snippet = `<script src="${location.origin}/connect.js"></script>
<script>
  // sessionUrl comes from your server: POST /connect/sessions, one for each user.
  Causeway.connect({ sessionUrl: '${url}' })
    .then(({ instanceId }) => console.log('connected', instanceId));
</script>`;
  return (
    <div class="stack">
      <h1>The link is ready</h1>
      <section class="card stack tight" aria-label="Link">
        <p>
          The link is a secret. It is shown only now, works once, and expires <Time at={expiresDate} />.
        </p>
        <div class="note">
          <div class="row apart">
            <code class="break">{url}</code>
            <span class="row">
              <Copy text={url} what="the link" />
              {/^https?:/.test(url) && (
                <a href={url} target="_blank" rel="noreferrer">
                  Open
                </a>
              )}
            </span>
          </div>
        </div>
      </section>
      <section class="card stack tight" aria-label="In your product">
        <div class="row apart">
          <h2>In your product</h2>
          <Copy text={snippet} what="the snippet" />
        </div>
        <p class="soft">
          Opens the page in its own window, or with <code>mode: 'frame'</code> in a frame. The page of your product must
          have one of the <a href="/console/organization/connect-origins">connect origins</a>. Your server gets the
          token of the new instance from <code>/connect/sessions/{id}</code>.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <pre tabIndex={0}>{snippet}</pre>
      </section>
      <div class="row">
        <a class="button" href={`${PATH}/${id}`}>
          Show the session
        </a>
        <a href={PATH}>Go to the sessions</a>
      </div>
    </div>
  );
}
