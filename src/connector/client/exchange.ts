import type { Clock } from '../../clock.ts';
import type { Egress } from '../../egress/index.ts';
import { AppError } from '../../errors.ts';
import { currentTrace } from '../../trace.ts';
import type { Config, Connector, Failure, ProviderRequest, ProviderResponse, RateLimitState } from '../contract.ts';
import { type Binding, headersTo, type Outgoing, type RequestUrls } from './binding.ts';
import type { Hold } from './byte-budget.ts';
import {
  describeEgressError,
  describeFailure,
  describeMisshapen,
  type FailedCall,
  isEgressError,
  judgeResponse,
} from './failure.ts';
import { type ReportingPorts, sendReported } from './reporting.ts';
import { judgeRateLimit, type ReadResponse, readFileResponse, readRateLimit, readResponse } from './response.ts';

/** The source of access tokens for one instance. */
export interface AccessTokens {
  /**
   * Returns a token that is valid now.
   * @throws AppError INSTANCE_CREDENTIALS_FAILED, PROVIDER_UNAVAILABLE; the reason of the signal
   */
  readonly current: (signal: AbortSignal) => Promise<string>;
  /**
   * Returns another token than the one that the provider rejected, or the same one where there is no other.
   * @throws as `current`
   */
  readonly replace: (refused: string, signal: AbortSignal) => Promise<string>;
}

/** The instance for which a request is sent, and its limits. */
export interface ProviderCall {
  readonly connector: Connector;
  /** The configuration. Pass the same object as long as it does not change, because derived data is cached by it. */
  readonly config: Config;
  /** The access tokens. Every call of a connector with OAuth needs them. */
  readonly tokens?: AccessTokens | undefined;
  readonly signal: AbortSignal;
  /** The account that owns the instance. */
  readonly accountId?: number;
  /** Counts the memory of responses, including what they are parsed to. Default: a hold that ends with the call. */
  readonly hold?: Hold;
  /** Receives the number of members of large responses. */
  readonly noteMembers?: (members: number) => void;
  /** Counts the requests of the call. */
  readonly tally?: CallTally;
  /** Whether to retry failures that may pass. Default true. */
  readonly retry?: boolean;
  /** Where requests wait for the rate limit. Without it, they are sent at once. */
  readonly gate?: CallGate | undefined;
}

/** A request under way, as the gate counts it. */
export interface GatedRequest {
  readonly askedAtMs: number;
  readonly taken: number;
  readonly answered: number;
}

/** Counts the requests of an instance against the rate limit of its provider. */
export interface CallGate {
  /**
   * Counts a request that is about to be sent.
   * @returns undefined if it can be sent now; otherwise a promise that resolves when it can, or rejects with the reason of the signal
   */
  readonly take: (signal: AbortSignal) => Promise<void> | undefined;
  /** Returns the request that was taken, as it is sent. */
  readonly sent: () => GatedRequest;
  /** Notes the rate limit that a response reports. */
  readonly heard: (request: GatedRequest, state: RateLimitState) => void;
  /** Notes that the provider refused the request because of its rate limit. `waitMs` is the wait that it requested. */
  readonly refused: (request: GatedRequest, waitMs: number | undefined) => void;
  /** Counts the end of a request that was taken, whatever its outcome is. */
  readonly ended: () => void;
}

/** Counters of a call, updated as requests are sent. */
export interface CallTally {
  /** Number of requests, including retries and redirects. */
  providerCalls: number;
  /** The rate limit of the last response that reported one. */
  rateLimit?: RateLimitState;
  /** Faults of single values and rows of a mapped object. The request succeeds without them. */
  mapping?: MappingFaults;
}

/** Faults of the mapping of an object, counted over all rows of a request. */
export interface MappingFaults {
  /** Values that could not be converted, by mapped field. `noun` is what they are not, e.g. `numbers`. */
  readonly values: Map<string, { count: number; readonly noun: string }>;
  /** Rows whose script failed, with the first reason. */
  scripts: number;
  scriptReason?: string;
  /** Why the script could not change the values of the filter. The filter is then sent as it would be without the script. */
  filterReason?: string;
  /** Whether the first row whose script fails ends the request. */
  readonly isStrict?: boolean;
  /** Receives the provider's records by the mapped ones. */
  readonly vendorRows?: WeakMap<object, object>;
}

/** The parts of the platform that the client sends requests with. */
export interface ExchangePorts extends ReportingPorts {
  readonly egress: Egress;
  readonly clock: Clock;
}

/** Time-out of one call in milliseconds, unless the connector declares another. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Maximum size of a response in bytes. */
export const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum size of a failure in bytes. It is plenty for words. */
export const FAILURE_BYTES = 256 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A request that is sent until there is a response, possibly several times. */
export interface PreparedRequest extends RequestUrls {
  readonly binding: Binding;
  readonly call: ProviderCall;
  readonly request: ProviderRequest;
  /** With `file`, the body of a successful response is a Buffer. */
  readonly expects: 'record' | 'file';
  readonly hold: Hold;
  readonly outgoing: Outgoing;
  /** The deadline in milliseconds on the steady clock. */
  readonly deadlineMs: number;
}

/** The outcome of sending a request once. */
type ExchangeOutcome =
  | { readonly kind: 'responded'; readonly response: ProviderResponse }
  | { readonly kind: 'redirected'; readonly location: string }
  | { readonly kind: 'failed'; readonly failed: FailedCall };

/** The URL of a request, and how often the request was sent before, to any URL. */
interface Sending {
  readonly url: URL;
  readonly resends: number;
}

/**
 * Sends a request once.
 * @throws AppError for failures that no retry can fix; the reason of the signal
 */
export async function exchange(
  ports: ExchangePorts,
  prepared: PreparedRequest,
  { url, resends }: Sending,
): Promise<ExchangeOutcome> {
  const { binding, call, outgoing, hold, target } = prepared;
  const { simulator, redactor } = binding;
  const { method } = outgoing;
  const toSimulator = simulator !== undefined;
  // A redirect to another origin receives no credentials, even if its host is one of the connector's.
  const getsCredentials = url === target || url.origin === target.origin;
  const headers = headersTo(binding, getsCredentials ? outgoing.headers : outgoing.headersWithoutAuth(), url);
  const beforeMs = ports.clock.steady();
  call.signal.throwIfAborted();
  const waiting = call.gate?.take(call.signal);
  if (waiting !== undefined) await waiting;
  // The time-out is that of the provider.
  const deadlineMs = prepared.deadlineMs + (waiting === undefined ? 0 : ports.clock.steady() - beforeMs);
  const sent = countRequest(call);
  const wire = currentTrace()?.wire?.open({ headers, body: outgoing.body }, redactor);
  let taken = 0;
  const takeBytes = (bytes: number) => {
    if (!hold.take(bytes)) return false;
    taken += bytes;
    return true;
  };
  try {
    const raw = await sendReported(
      ports,
      { element: call.connector.key, method, url, toSimulator, redactor, resends, headers, wire },
      (tracedHeaders) =>
        ports.egress.request({
          url: url === target ? prepared.receiver : (simulator?.enter(url) ?? url),
          method,
          headers: tracedHeaders,
          body: outgoing.body,
          timeoutMs: Math.max(1, Math.ceil(deadlineMs - ports.clock.steady())),
          maxBytes: MAX_BYTES,
          failureBytes: FAILURE_BYTES,
          toSimulator,
          takeBytes,
          signal: call.signal,
        }),
    );
    wire?.noteResponse(raw);
    noteRateLimit(call, raw.headers, ports.clock, sent);
    const reading = { hold, signal: call.signal, noteMembers: call.noteMembers };
    const isFile = prepared.expects === 'file';
    const read = await (isFile ? readFileResponse(reading, raw) : readResponse(reading, raw, headers.accept));
    // The bytes of a file stay counted. For other responses, only what they were parsed to stays counted.
    if (read.file !== undefined) taken = 0;
    const said = call.connector.classify?.(read.response);
    const location = REDIRECTS.has(raw.status) ? redirectOf(method, read, said) : undefined;
    if (location !== undefined) return { kind: 'redirected', location };
    const verdict = judge(ports.clock, prepared, read, { said, url, getsCredentials });
    if (verdict.kind === 'failed') noteRefusal(call, verdict, sent);
    return verdict;
  } catch (error) {
    call.signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    return { kind: 'failed', failed: describeEgressError(error, undertakingOf(prepared, url)) };
  } finally {
    hold.give(taken);
    call.gate?.ended();
  }
}

/**
 * Counts a request that is about to be sent.
 * @throws the reason of the signal
 */
export function countRequest({ signal, tally, gate }: ProviderCall): GatedRequest | undefined {
  if (signal.aborted) {
    gate?.ended();
    throw signal.reason;
  }
  if (tally !== undefined) tally.providerCalls++;
  const trace = currentTrace();
  if (trace !== undefined) trace.providerCalls++;
  return gate?.sent();
}

/** Records the rate limit that the provider reports, in headers that the connector or the core knows. */
export function noteRateLimit(
  { connector, tally, gate }: ProviderCall,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
  sent: GatedRequest | undefined,
): void {
  if (tally === undefined && gate === undefined) return;
  const own = connector.rateLimit?.(headers);
  const said = own === undefined ? readRateLimit(headers, clock.now()) : judgeRateLimit(own);
  if (said === undefined) return;
  if (tally !== undefined) tally.rateLimit = said;
  if (sent !== undefined) gate?.heard(sent, said);
}

/** Reports to the gate that the provider refused a request, if that was because of its rate limit. */
export function noteRefusal(
  { gate }: ProviderCall,
  { failed }: Extract<Verdict, { readonly kind: 'failed' }>,
  sent: GatedRequest | undefined,
): void {
  if (failed.error.code === 'PROVIDER_RATE_LIMITED' && sent !== undefined) gate?.refused(sent, failed.retryAfterMs);
}

function undertakingOf({ binding, request, target }: PreparedRequest, url: URL) {
  return {
    name: binding.connector.name,
    linked: request.url !== undefined || url !== target,
    timeoutMs: binding.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

/** Returns the location of a redirect. Undefined where it must not be followed, and where the connector has judged the response. */
function redirectOf(method: string, { response }: ReadResponse, said: Said): string | undefined {
  if (said === null || said?.kind !== undefined || method !== 'GET') return undefined;
  return response.headers.location;
}

type Said = Failure | null | undefined;

/** The outcome of a request without redirects: a response, or a failure that may be retried. */
export type Verdict = Exclude<ExchangeOutcome, { readonly kind: 'redirected' }>;

/**
 * Judges a response by its connector, or by its status.
 * @throws AppError PROVIDER_PROTOCOL where `url` requires credentials that were not sent to it
 */
export function judge(
  clock: Clock,
  { binding, outgoing, target }: Pick<PreparedRequest, 'binding' | 'outgoing' | 'target'>,
  read: ReadResponse,
  { said, url, getsCredentials }: { readonly said: Said; readonly url: URL; readonly getsCredentials: boolean },
): Verdict {
  const { response, file, misshapen, quotable } = read;
  const isSuccess = said === null || (said === undefined && response.status >= 200 && response.status < 300);
  const failure = isSuccess ? undefined : judgeResponse(said, response.status, outgoing.method);
  if (failure?.kind === 'credentials' && !getsCredentials) throw credentialsWithheld({ binding, target }, url);
  if (failure !== undefined) {
    return { kind: 'failed', failed: describeFailure(clock, { binding, response, failure, quotable }) };
  }
  // The connector may accept a body that is not JSON.
  if (misshapen && said !== null) return { kind: 'failed', failed: describeMisshapen(binding, read) };
  return { kind: 'responded', response: file === undefined ? response : { ...response, body: file } };
}

/** The error is not INSTANCE_CREDENTIALS_FAILED, because no credentials were sent. */
function credentialsWithheld(
  { binding, target }: Pick<PreparedRequest, 'binding' | 'target'>,
  { host }: URL,
): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `${binding.connector.name} redirected to ${host}, which requires credentials. Causeway sends them only to ${target.host}, the host of the request.`,
  );
}
