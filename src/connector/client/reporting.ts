import type { Clock } from '../../clock.ts';
import type { EgressResponse } from '../../egress/index.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { currentSpan, currentTrace, noteCall, type SpanEnd, type TracedCall } from '../../trace.ts';
import type { ByteBudget } from './byte-budget.ts';
import { isEgressError } from './failure.ts';

/** One request to a provider, with its outcome. */
interface SentRequest extends TracedCall {
  /** The element key. */
  readonly element: string;
  readonly toSimulator: boolean;
}

/** Receives every request when it has ended. */
export type ReportRequest = (request: SentRequest) => void;

/** The clock, and the receiver of reports. */
export interface ReportingPorts {
  readonly clock: Clock;
  readonly report?: ReportRequest | undefined;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Sends a request and reports it with its outcome, also to the trace of the call. `send` receives the given headers, and those of the trace
 * where that is configured.
 * @returns the response
 */
export async function sendReported<Response extends Pick<EgressResponse, 'status'>>(
  { clock, report }: ReportingPorts,
  { headers, ...request }: Omit<SentRequest, 'outcome' | 'durationMs'> & { readonly headers: Headers },
  send: (headers: Headers) => Promise<Response>,
): Promise<Response> {
  const startedAtMs = clock.steady();
  const span = currentSpan()?.child({ name: request.method, kind: 'client' });
  const ofTrace = span?.headersFor(request.url.hostname);
  let outcome: SentRequest['outcome'] = 'failed';
  try {
    const received = await send(ofTrace === undefined ? headers : { ...headers, ...ofTrace });
    outcome = received.status;
    return received;
  } catch (error) {
    if (isEgressError(error)) outcome = error.reason;
    throw error;
  } finally {
    const sent = { ...request, outcome, durationMs: clock.steady() - startedAtMs };
    noteCall(sent);
    report?.(sent);
    span?.end(() => describeExchange(sent));
  }
}

/** Returns the attributes of the span of a request, named by OpenTelemetry's conventions for HTTP clients and by us. */
function describeExchange({ element, method, url, toSimulator, outcome, redactor, resends }: SentRequest): SpanEnd {
  return {
    attributes: {
      'http.request.method': method,
      'http.request.resend_count': resends === 0 ? undefined : resends,
      'http.response.status_code': typeof outcome === 'number' ? outcome : undefined,
      ...describeTarget(url, url.pathname),
      'causeway.element': element,
      'causeway.simulator': toSimulator ? true : undefined,
    },
    errorType: errorTypeOf(outcome),
    redactor,
  };
}

/** Undefined for a success. For a client, a 4xx is an error too. */
function errorTypeOf(outcome: SentRequest['outcome']): string | undefined {
  if (typeof outcome === 'string') return outcome;
  return outcome >= 400 ? String(outcome) : undefined;
}

const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Returns a receiver that measures requests by element and outcome. Retries and redirects count separately. */
export function measureProviderCalls(metrics: Metrics): ReportRequest {
  const observe = metrics.observer({
    name: 'causeway_provider_call_duration_seconds',
    help: 'Duration of a request to a provider, by element and outcome: the class of the status, or why there was no response.',
    labelNames: ['element', 'outcome'],
    buckets: BUCKETS_SECONDS,
  });
  return ({ element, outcome, durationMs }) => {
    const kind = typeof outcome === 'number' ? `${Math.floor(outcome / 100)}xx` : outcome;
    observe(durationMs / 1000, element, kind);
  };
}

/**
 * Returns a receiver that logs a line for each request at the level `debug`. It leaves out the query, because filters and keys are in it.
 */
export function logProviderCalls(log: Logger): ReportRequest {
  return ({ element, method, url, toSimulator, outcome, durationMs, redactor }) => {
    const { instanceId } = currentTrace() ?? {};
    log.debug(
      {
        redactor,
        ...(instanceId !== undefined && { instanceId }),
        element,
        method,
        host: url.host,
        path: url.pathname,
        ...(typeof outcome === 'number' ? { status: outcome } : { failure: outcome }),
        ms: Math.round(durationMs * 10) / 10,
        ...(toSimulator && { simulator: true }),
      },
      'provider request',
    );
  };
}

/** Adds a gauge of the memory that responses hold. */
export function measureBudget({ heldBytes }: ByteBudget, metrics: Metrics): void {
  metrics.gauge({
    name: 'causeway_provider_answers_bytes',
    help: 'Estimated memory of the responses of providers in progress; PROVIDER_MEMORY_MB limits it.',
    collect: (gauge) => gauge.set(heldBytes()),
  });
}

const HIDDEN = 'REDACTED';

/** Describes the target of a request for logs and traces. It hides the query, because filters and keys are in it. */
export function describeTarget({ origin, protocol, hostname, port, search }: URL, path: string) {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return {
    'url.full': `${origin}${path}${search === '' ? '' : `?${HIDDEN}`}`,
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
  };
}
