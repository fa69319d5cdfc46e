import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { CodeWords } from '../parts/code-words.tsx';
import { Copy } from '../parts/copy.tsx';
import { Fact } from '../parts/fact.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { isTraced } from './messages.tsx';
import { ScriptNotes } from './scripts.tsx';
import { Status } from './status.tsx';
import { Waterfall } from './waterfall.tsx';

type Request = Schemas['TracedActivity'];

const PUSHDOWN_WORDS: Readonly<Record<Schemas['QueryPushdown'], string>> = {
  full: 'full: the provider evaluated the whole filter',
  partial: 'partial: the provider evaluated a part of the filter, and Causeway checked the rest',
  none: 'none: Causeway checked the filter',
};

/** Shows one request with everything that is stored about it. */
export function RequestPage({ requestId }: { readonly requestId: string }) {
  const loaded = useLoad(
    (signal) => ask(api.GET('/activity/{requestId}', { signal, params: { path: { requestId } } })),
    [requestId],
  );
  return (
    <div class="stack">
      <a href="/console/activity">← Activity</a>
      <Show loaded={loaded}>{(request) => <Details request={request} />}</Show>
    </div>
  );
}

function Details({ request }: { readonly request: Request }) {
  const { method, path, status, code, reason, instanceId, providerCalls } = request;
  return (
    <>
      <header class="row">
        <h1 class="break">
          {method} {path}
        </h1>
        <Status status={status} />
      </header>
      {code !== undefined && (
        <div class="note bad">
          <p>
            <code>{code}</code> <CodeWords code={code} />
          </p>
          {reason !== undefined && <p class="break">{reason}</p>}
          <p class="row">
            <a href={`/console/activity?code=${encodeURIComponent(code)}`}>Requests with this error</a>
            {code === 'INSTANCE_CREDENTIALS_FAILED' && instanceId !== undefined && (
              <a href={`/console/instances/${instanceId}`}>Go to the instance</a>
            )}
          </p>
        </div>
      )}
      <Facts request={request} />
      {request.scripts !== undefined && <ScriptNotes scripts={request.scripts} />}
      <section class="stack tight" aria-label="Provider calls">
        <h2>Provider calls</h2>
        {providerCalls.length === 0 ? (
          <Empty title="This request made no calls to the provider." />
        ) : (
          <Waterfall request={request} />
        )}
        {providerCalls.length > 0 && !providerCalls.some(isTraced) && instanceId !== undefined && (
          <p class="small soft">
            The service keeps headers and bodies while trace logging is on. Turn it on at{' '}
            <a href={`/console/instances/${instanceId}`}>the instance</a>.
          </p>
        )}
      </section>
    </>
  );
}

function Facts({ request }: { readonly request: Request }) {
  const {
    requestId,
    timestamp,
    operation,
    instanceId,
    elementKey,
    userId,
    keyName,
    durationMs,
    rows,
    events,
    pushdown,
    cut,
  } = request;
  const providerMs = request.providerCalls.reduce((sum, call) => sum + call.durationMs, 0);
  return (
    <dl class="facts">
      <Fact name="Request id">
        <code>{requestId}</code> <Copy text={requestId} what="the request id" />
      </Fact>
      <Fact name="Came">
        <Time at={timestamp} /> <code class="soft small">{timestamp}</code>
      </Fact>
      <Fact name="Took">
        {sayDuration(durationMs)}
        {providerMs > 0 && <span class="soft"> · provider calls together {sayDuration(providerMs)}</span>}
      </Fact>
      {instanceId !== undefined && (
        <Fact name="Instance">
          <a href={`/console/instances/${instanceId}`}>
            #{instanceId} {elementKey}
          </a>{' '}
          · <a href={`/console/activity?instance=${instanceId}`}>its activity</a>
        </Fact>
      )}
      {operation !== undefined && (
        <Fact name="Operation">
          <code>{operation}</code>
        </Fact>
      )}
      {userId !== undefined && <Fact name="User">#{userId}</Fact>}
      {keyName !== undefined && <Fact name="Access key">{keyName}</Fact>}
      {rows !== undefined && <Fact name="Rows">{rows}</Fact>}
      {events !== undefined && <Fact name="Events">{events}</Fact>}
      {pushdown !== undefined && <Fact name="Pushdown">{PUSHDOWN_WORDS[pushdown]}</Fact>}
      {cut && <Fact name="Response">The caller did not receive the whole response.</Fact>}
    </dl>
  );
}
