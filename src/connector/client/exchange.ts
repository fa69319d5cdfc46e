import type { Clock } from '../../clock.ts';
import type { Egress } from '../../egress/index.ts';
import { AppError } from '../../errors.ts';
import { currentTrace } from '../../trace.ts';
import type { Config, Connector, Failure, ProviderRequest, ProviderResponse, RateLimitState } from '../contract.ts';
import { type Binding, headersTo, type Outgoing } from './binding.ts';
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

/** The access tokens of one instance. */
export interface AccessTokens {
  /** One that is good now. @throws AppError INSTANCE_CREDENTIALS_FAILED, PROVIDER_UNAVAILABLE; the reason of the signal */
  readonly current: (signal: AbortSignal) => Promise<string>;
  /** Another one than the provider refused, or the same where there is no other. @throws as `current` */
  readonly replace: (refused: string, signal: AbortSignal) => Promise<string>;
}

/** On whose behalf a request is sent. */
export interface ProviderCall {
  readonly connector: Connector;
  /** Keep the object as long as the configuration is the same: what is derived from it is kept with it. */
  readonly config: Config;
  /** For connectors with OAuth: every call of theirs needs one. */
  readonly tokens?: AccessTokens | undefined;
  readonly signal: AbortSignal;
  /** Its owner. */
  readonly accountId?: number;
  /** Where the memory of responses is counted, what they are parsed to included. Default: one that ends with the call. */
  readonly hold?: Hold;
  /** Told of the members of large answers. */
  readonly noteMembers?: (members: number) => void;
  /** Where it is noted what was done for the call. */
  readonly tally?: CallTally;
  /** Default true: failures that may pass are tried again. */
  readonly retry?: boolean;
}

/** Goes on as requests are sent. */
export interface CallTally {
  /** Requests, retries and redirects included. */
  providerCalls: number;
  /** As the last response that had it says. */
  rateLimit?: RateLimitState;
}

export interface ExchangePorts extends ReportingPorts {
  readonly egress: Pick<Egress, 'request' | 'stream'>;
  readonly clock: Clock;
}

export const DEFAULT_TIMEOUT_MS = 30_000;

export const MAX_BYTES = 32 * 1024 * 1024;
/** Plenty for words. */
export const FAILURE_BYTES = 256 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A request as it is sent until there is a response, however often. */
export interface PreparedRequest {
  readonly binding: Binding;
  readonly call: ProviderCall;
  readonly request: ProviderRequest;
  /** With `file` the body of a success is a Buffer. */
  readonly expects: 'record' | 'file';
  readonly hold: Hold;
  readonly outgoing: Outgoing;
  /** The provider's URL, checked. */
  readonly target: URL;
  /** On the steady clock. */
  readonly deadlineMs: number;
}

export type ExchangeOutcome =
  | { readonly kind: 'answered'; readonly response: ProviderResponse }
  | { readonly kind: 'redirected'; readonly location: string }
  | { readonly kind: 'failed'; readonly failed: FailedCall };

/** Where a request is sent, and how often it was sent before, wherever that was. */
export interface Sending {
  readonly url: URL;
  readonly resends: number;
}

/** Sends once. @throws what no other try can mend, and the reason of an abort */
export async function exchange(
  ports: ExchangePorts,
  prepared: PreparedRequest,
  { url, resends }: Sending,
): Promise<ExchangeOutcome> {
  const { binding, call, outgoing, hold } = prepared;
  const { simulator, redactor } = binding;
  const { method } = outgoing;
  const toSimulator = simulator !== undefined;
  const chosen = getsCredentials(prepared, url) ? outgoing.headers : outgoing.headersWithoutAuth();
  const headers = headersTo(binding, chosen, url);
  countRequest(call);
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
          url: simulator?.enter(url) ?? url,
          method,
          headers: tracedHeaders,
          body: outgoing.body,
          timeoutMs: Math.max(1, Math.ceil(prepared.deadlineMs - ports.clock.steady())),
          maxBytes: MAX_BYTES,
          failureBytes: FAILURE_BYTES,
          toSimulator,
          takeBytes,
          signal: call.signal,
        }),
    );
    wire?.answered(raw);
    noteRateLimit(call, raw.headers, ports.clock);
    const reading = { hold, signal: call.signal, noteMembers: call.noteMembers };
    const isFile = prepared.expects === 'file';
    const read = await (isFile ? readFileResponse(reading, raw) : readResponse(reading, raw, headers.accept));
    // A file is its bytes: they stay counted. Of the others, what they were parsed to.
    if (read.file !== undefined) taken = 0;
    const said = call.connector.classify?.(read.response);
    const location = redirectOf(prepared, read, said);
    if (location !== undefined) return { kind: 'redirected', location };
    return judge(ports.clock, prepared, read, { said, url });
  } catch (error) {
    call.signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    return { kind: 'failed', failed: describeEgressError(error, undertakingOf(prepared, url)) };
  } finally {
    hold.give(taken);
  }
}

/** Of a request that is about to be sent. @throws the reason of the signal */
export function countRequest({ signal, tally }: ProviderCall): void {
  signal.throwIfAborted();
  if (tally !== undefined) tally.providerCalls++;
  const trace = currentTrace();
  if (trace !== undefined) trace.providerCalls++;
}

/** What the provider says about its budget, in words that its connector knows or in the usual ones. */
export function noteRateLimit(
  { connector, tally }: ProviderCall,
  headers: Readonly<Record<string, string>>,
  clock: Pick<Clock, 'now'>,
): void {
  if (tally === undefined) return;
  const own = connector.rateLimit?.(headers);
  const said = own === undefined ? readRateLimit(headers, clock.now()) : judgeRateLimit(own);
  if (said !== undefined) tally.rateLimit = said;
}

function undertakingOf({ binding, request, target }: PreparedRequest, url: URL) {
  return {
    name: binding.connector.name,
    linked: request.url !== undefined || url !== target,
    timeoutMs: binding.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

/** A redirect to another origin, though among the hosts, does not get the credentials. */
function getsCredentials({ target }: Pick<PreparedRequest, 'target'>, url: URL): boolean {
  return url === target || url.origin === target.origin;
}

/** Where a response leads that is none yet; undefined for any other, and where the connector says what it is. */
function redirectOf({ outgoing }: PreparedRequest, { response }: ReadResponse, said: Said): string | undefined {
  if (said === null || said?.kind !== undefined || outgoing.method !== 'GET') return undefined;
  return REDIRECTS.has(response.status) ? response.headers.location : undefined;
}

type Said = Failure | null | undefined;

/** The outcome of a request, for good or until another try. */
export type Verdict = Exclude<ExchangeOutcome, { readonly kind: 'redirected' }>;

/** What a response means, as its connector said or by its status. @throws AppError PROVIDER_PROTOCOL where `url` was not shown the credentials that it wants */
export function judge(
  clock: Clock,
  prepared: Pick<PreparedRequest, 'binding' | 'outgoing' | 'target'>,
  read: ReadResponse,
  { said, url }: { readonly said: Said; readonly url: URL },
): Verdict {
  const { binding, outgoing } = prepared;
  const { response, misshapen, quotable } = read;
  if (said === null) return accept(read);
  const failure = judgeResponse(said, response.status, outgoing.method);
  if (failure?.kind === 'credentials' && !getsCredentials(prepared, url)) throw credentialsWithheld(prepared, url);
  if (failure !== undefined) {
    return { kind: 'failed', failed: describeFailure(clock, { binding, response, failure, quotable }) };
  }
  if (misshapen) return { kind: 'failed', failed: describeMisshapen(binding, read) };
  return accept(read);
}

function accept({ response, file }: ReadResponse): Verdict {
  return { kind: 'answered', response: file === undefined ? response : { ...response, body: file } };
}

/** Nobody refused the instance's credentials, as nobody was shown any. */
function credentialsWithheld(
  { binding, target }: Pick<PreparedRequest, 'binding' | 'target'>,
  { host }: URL,
): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `${binding.connector.name} redirected to ${host}, which requires credentials. Causeway sends them only to ${target.host}, the host of the request.`,
  );
}
