import { useState } from 'preact/hooks';
import { api, ask, type Instance } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/time.tsx';
import { MASK } from './form-values.ts';
import { LastError } from './last-error.tsx';

/** Shows an instance and its configuration. */
export function Overview({ instance }: { readonly instance: Instance }) {
  const { id, element, tags, user, createdDate, traceLoggingUntil, eventUrl, eventsEnabled, lastCallDate, lastError } =
    instance;
  return (
    <div class="columns">
      <section class="card stack tight">
        <h2>Instance</h2>
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            {id} <Copy text={String(id)} what="the id" />
          </dd>
          <dt>Element</dt>
          <dd>
            {element.name} <code>{element.key}</code>
          </dd>
          <dt>Token</dt>
          <dd>
            <Hidden text={instance.token} what="the token" />
          </dd>
          <dt>Tags</dt>
          <dd class="row">
            {tags.length === 0 && <span class="soft">none</span>}
            {tags.map((tag) => (
              <a key={tag} class="chip" href={`/console/instances?${new URLSearchParams({ tag })}`}>
                {tag}
              </a>
            ))}
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={createdDate} />
          </dd>
          <dt>Owner</dt>
          <dd>{user.emailAddress}</dd>
          <dt>Last call</dt>
          <dd>{lastCallDate === undefined ? <span class="soft">none</span> : <Time at={lastCallDate} />}</dd>
          <dt>Last error</dt>
          <dd>
            <LastError lastError={lastError} />
          </dd>
          {traceLoggingUntil !== undefined && (
            <>
              <dt>Traced until</dt>
              <dd>
                <Time at={traceLoggingUntil} />
              </dd>
            </>
          )}
          <dt>Events</dt>
          <dd>
            {eventsEnabled ? (
              <>
                <Badge tone="good">on</Badge> to <span class="break">{instance.eventsNotificationCallbackUrl}</span>
              </>
            ) : (
              <Badge tone="quiet">off</Badge>
            )}
          </dd>
          {eventUrl !== undefined && (
            <>
              <dt>Event URL</dt>
              <dd>
                <Hidden text={eventUrl} what="the event URL" />
              </dd>
            </>
          )}
        </dl>
      </section>
      <section class="card stack tight">
        <div class="row apart">
          <h2>Configuration</h2>
          <a class="button" href={`/console/instances/${id}/settings`}>
            Edit
          </a>
        </div>
        <Configuration instance={instance} />
      </section>
    </div>
  );
}

/** Shows the configuration in the order and with the names of the form, followed by the values that the service has added. */
function Configuration({ instance: { element, configuration } }: { readonly instance: Instance }) {
  const { value: fields = [] } = useLoad(
    (signal) =>
      ask(api.GET('/elements/{keyOrId}/configuration', { signal, params: { path: { keyOrId: element.key } } })),
    [element.key],
  );
  const names = new Map(fields.map(({ key, name }) => [key, name]));
  const order = [...names.keys()].filter((key) => key in configuration);
  const rest = Object.keys(configuration).filter((key) => !names.has(key));
  if (order.length + rest.length === 0) return <p class="soft">The instance has no configuration.</p>;
  return (
    <dl class="facts">
      {[...order, ...rest].map((key) => (
        <>
          <dt key={`${key} name`} title={key}>
            {names.get(key) ?? key}
          </dt>
          <dd key={key} class={configuration[key] === MASK ? 'soft' : undefined}>
            {show(configuration[key])}
          </dd>
        </>
      ))}
    </dl>
  );
}

function show(value: unknown) {
  if (typeof value === 'object' && value !== null) return <pre>{JSON.stringify(value, null, 2)}</pre>;
  return String(value);
}

/** Hides a secret until a click, because anyone who knows it can use it. */
function Hidden({ text, what }: { readonly text: string; readonly what: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <span class="row">
      <code class="break">{isShown ? text : '••••••••••••'}</code>
      <button
        type="button"
        class="plain"
        aria-label={`${isShown ? 'Hide' : 'Show'} ${what}`}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? 'Hide' : 'Show'}
      </button>
      <Copy text={text} what={what} />
    </span>
  );
}
