import type { Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { sayDuration } from '../parts/time.tsx';
import { type CallSpan, layOut } from './layout.ts';
import { isTraced, Messages } from './messages.tsx';
import { Status, toneOf } from './status.tsx';

type Call = Schemas['TracedCall'];

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Shows the request and its calls to the provider as bars on one time axis. */
export function Waterfall({ request }: { readonly request: Schemas['TracedActivity'] }) {
  const { providerCalls, durationMs, moreProviderCalls = 0, method, path, status } = request;
  const { spans, endMs, isParallel } = layOut(
    providerCalls.map((call) => call.durationMs),
    durationMs,
  );
  return (
    <div class="stack tight">
      <ol class="waterfall" aria-label="Waterfall of the request">
        <li class="axis" aria-hidden="true">
          <span class="track">
            {TICKS.map((part) => (
              <span key={part} style={{ insetInlineStart: percent(part) }}>
                {sayDuration(part * endMs)}
              </span>
            ))}
          </span>
        </li>
        <li>
          <span class="what strong break">
            {method} {path}
          </span>
          <Bar span={{ startMs: 0, endMs: durationMs }} endMs={endMs} tone="quiet" />
          <span class="took">
            <Status status={status} /> {sayDuration(durationMs)}
          </span>
        </li>
        {providerCalls.map((call, index) => (
          <CallLine
            key={index}
            call={call}
            span={spans[index] ?? { startMs: 0, endMs: call.durationMs }}
            endMs={endMs}
          />
        ))}
      </ol>
      {providerCalls.length > 0 && (
        <p class="small soft">
          The service records the duration of each call and the order in which they ended, not when they started.{' '}
          {isParallel
            ? 'Together they took longer than the request, so some ran at the same time. The chart shows each at its earliest possible end.'
            : 'The chart shows them one after the other.'}
        </p>
      )}
      {moreProviderCalls > 0 && (
        <p class="note">
          The first {providerCalls.length} calls are stored. There were {moreProviderCalls} more.
        </p>
      )}
    </div>
  );
}

interface CallLineProps {
  readonly call: Call;
  readonly span: CallSpan;
  readonly endMs: number;
}

function CallLine({ call, span, endMs }: CallLineProps) {
  const { method, host, path, status, failure, durationMs, retries } = call;
  return (
    <li>
      <span class="what break" title={`${method} ${host}${path}`}>
        <span class="soft">{method}</span> <span class="soft">{host}</span>
        {path}
      </span>
      <Bar span={span} endMs={endMs} tone={toneOf(status)} />
      <span class="took">
        {status === undefined ? <Badge tone="bad">{failure ?? 'no response'}</Badge> : <Status status={status} />}{' '}
        {retries > 0 && (
          <Badge
            tone="warn"
            title="This request was sent before. It was repeated after a failure, with a new access token, or because of a redirect."
          >
            try {retries + 1}
          </Badge>
        )}{' '}
        {sayDuration(durationMs)}
      </span>
      {isTraced(call) && <Messages call={call} />}
    </li>
  );
}

/** Draws one bar. It is hidden from screen readers, because the text beside it has the same information. */
function Bar({
  span: { startMs, endMs: spanEndMs },
  endMs,
  tone,
}: Omit<CallLineProps, 'call'> & { readonly tone: string }) {
  return (
    <span class="track" aria-hidden="true">
      <span
        class={`bar ${tone}`}
        style={{ insetInlineStart: percent(startMs / endMs), inlineSize: percent((spanEndMs - startMs) / endMs) }}
      />
    </span>
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`;
}
