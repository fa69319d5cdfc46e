import type { EgressStream } from '../../egress/index.ts';
import { isAppError } from '../../errors.ts';
import type { Redactor } from '../../redaction.ts';
import { currentTrace } from '../../trace.ts';
import type { Bind, Binding } from './binding.ts';
import {
  type AccessTokens,
  countRequest,
  DEFAULT_TIMEOUT_MS,
  type ExchangePorts,
  noteRateLimit,
  type ProviderCall,
} from './exchange.ts';
import { describeEgressError, isEgressError } from './failure.ts';
import { sendReported } from './reporting.ts';
import { readWaitMs } from './response.ts';
import { resolveBelow } from './url.ts';

/** A request that is sent to the provider unchanged, except for the instance's authentication. */
export interface PassedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base URL, percent-encoded by the caller. It begins with `/`. */
  readonly path: string;
  /** The query with its `?`, or empty. */
  readonly search: string;
  /** The headers with lower-case names, without any that authenticate. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. A Buffer can be sent again when the provider rejects an access token, a stream cannot. */
  readonly body?: Buffer | AsyncIterable<Buffer> | undefined;
  readonly bodyLength?: number | undefined;
}

/** The provider's response, whatever its status is. */
export interface PassedResponse extends EgressStream {
  /** Redacts the secrets that the provider received. */
  readonly redactor: Redactor;
}

interface PassedOn {
  readonly call: ProviderCall;
  /** The access tokens, where the connector uses OAuth. */
  readonly tokens: AccessTokens | undefined;
  readonly bind: Bind;
}

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;

/**
 * Passes a request on and returns the provider's response.
 * @throws AppError only where there is no response
 */
export async function pass(
  ports: ExchangePorts,
  { call, tokens, bind }: PassedOn,
  request: PassedRequest,
): Promise<PassedResponse> {
  const { connector, config, signal } = call;
  if (tokens === undefined) return passOnce(ports, { call, binding: bind(connector, config), resends: 0 }, request);
  const token = await tokens.current(signal);
  const response = await passOnce(ports, { call, binding: bind(connector, config, token), resends: 0 }, request);
  if (response.status !== UNAUTHORIZED) return response;
  try {
    // A rejected access token is replaced, and the request is sent again if that is possible.
    const another = await tokens.replace(token, signal);
    if (another === token || !canRepeat(request)) return response;
    response.cancel();
    return await passOnce(ports, { call, binding: bind(connector, config, another), resends: 1 }, request);
  } catch (error) {
    response.cancel();
    throw error;
  }
}

function canRepeat({ body }: PassedRequest): boolean {
  return body === undefined || Buffer.isBuffer(body);
}

interface PassingOnce extends Pick<PassedOn, 'call'> {
  readonly binding: Binding;
  readonly resends: number;
}

async function passOnce(
  ports: ExchangePorts,
  { call, binding, resends }: PassingOnce,
  request: PassedRequest,
): Promise<PassedResponse> {
  const { connector, signal } = call;
  const { simulator, redactor } = binding;
  const { method, body, bodyLength } = request;
  const url = resolveBelow(binding, request.path, request.search);
  const silenceMs = connector.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const toSimulator = simulator !== undefined;
  const sent = headersOf(binding, request, url);
  call.signal.throwIfAborted();
  const waiting = call.gate?.take(call.signal);
  if (waiting !== undefined) await waiting;
  const counted = countRequest(call);
  const wire = currentTrace()?.wire?.open({ headers: sent, body }, redactor);
  try {
    const response = await sendReported(
      ports,
      {
        element: connector.key,
        method,
        url,
        toSimulator,
        redactor,
        resends,
        headers: sent,
        wire,
      },
      (headers) =>
        ports.egress.stream({
          url: simulator?.enter(url) ?? url,
          method,
          headers,
          ...(body !== undefined && { body, bodyLength }),
          silenceMs,
          toSimulator,
          signal,
        }),
    );
    noteRateLimit(call, response.headers, ports.clock, counted);
    if (response.status === TOO_MANY_REQUESTS && counted !== undefined) {
      call.gate?.refused(counted, readWaitMs(response.headers, ports.clock.now()));
    }
    return { ...response, redactor, ...(wire !== undefined && { body: wire.watch(response) }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    // A fault of the caller's body shows as a failure to send it.
    if (isAppError(error.cause)) throw error.cause;
    throw describeEgressError(error, { name: connector.name, linked: false, timeoutMs: silenceMs }).error;
  } finally {
    call.gate?.ended();
  }
}

/**
 * Returns the headers of a request: the connector's defaults, then the caller's, then those that authenticate, which the caller cannot
 * replace.
 */
function headersOf(binding: Binding, { headers }: PassedRequest, target: URL): Readonly<Record<string, string>> {
  const { headersWithoutAuth } = binding;
  const authentication = Object.entries(binding.headers).filter(([name, value]) => headersWithoutAuth[name] !== value);
  return {
    ...headersWithoutAuth,
    ...headers,
    ...Object.fromEntries(authentication),
    ...(binding.simulator !== undefined && { forwarded: binding.simulator.forwarded(target) }),
  };
}
