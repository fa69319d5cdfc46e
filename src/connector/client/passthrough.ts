import type { EgressStream } from '../../egress/index.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Redactor } from '../../redaction.ts';
import { DEFAULT_TIMEOUT_MS } from './attempt.ts';
import type { Binding } from './binding.ts';
import { describeEgressError, isEgressError } from './egress-failure.ts';
import type { ClientPorts, ProviderCall } from './ports.ts';
import { resolveBelow } from './target.ts';

/** A request that goes to the provider as it is, but for the instance's authentication. */
export interface PassedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, percent-encoded as the caller did it; begins with `/`. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly search: string;
  /** Lower-case names, without any that authenticate. */
  readonly headers: Readonly<Record<string, string>>;
  /** A Buffer can be sent again when the provider refuses an access token; what streams goes once. */
  readonly body?: Buffer | AsyncIterable<Buffer> | undefined;
  readonly bodyLength?: number | undefined;
}

/** Whatever the provider answered, refusals included. */
export interface PassedAnswer extends EgressStream {
  /** Of the secrets that the provider was sent. */
  readonly redactor: Redactor;
}

/** Sends once: what the provider says is the answer, so that only what it did not say is an error. @throws AppError */
export async function pass(
  ports: ClientPorts,
  { call, binding }: { readonly call: ProviderCall; readonly binding: Binding },
  request: PassedRequest,
): Promise<PassedAnswer> {
  const target = resolveBelow(binding, request.path, request.search);
  const silenceMs = call.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  call.signal.throwIfAborted();
  call.onProviderCall?.();
  const startedAtMs = performance.now();
  const tell = (outcome: number | string) =>
    ports.onRequest?.({
      element: call.connector.key,
      method: request.method,
      url: target,
      toSimulator: binding.simulator !== undefined,
      outcome,
      durationMs: performance.now() - startedAtMs,
      redactor: binding.redactor,
    });
  try {
    const answer = await ports.egress.stream({
      url: binding.simulator?.enter(target) ?? target,
      method: request.method,
      headers: headersOf(binding, request, target),
      ...(request.body !== undefined && { body: request.body, bodyLength: request.bodyLength }),
      silenceMs,
      toSimulator: binding.simulator !== undefined,
      signal: call.signal,
    });
    tell(answer.status);
    call.onAnswer?.(answer.headers);
    return { ...answer, redactor: binding.redactor };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!isEgressError(error)) throw error;
    tell(error.reason);
    // What is wrong with the caller's body shows as a failure to send it.
    if (isAppError(error.cause)) throw error.cause;
    throw describeEgressError(error, { name: call.connector.name, linked: false, timeoutMs: silenceMs }).error;
  }
}

/** What the connector sends unless told otherwise, then what the caller says, then what authenticates, which nobody else may say. */
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

const UNAUTHORIZED = 401;

/** With OAuth: a refused access token is replaced, and what can be sent again is. */
export async function passWithToken(
  ports: ClientPorts,
  { call, bind }: { readonly call: ProviderCall; readonly bind: (accessToken: string) => Binding },
  request: PassedRequest,
): Promise<PassedAnswer> {
  const { tokens, signal } = call;
  if (tokens === undefined) throw new AppError('INTERNAL', `A call to ${call.connector.name} needs access tokens`);
  const token = await tokens.current(signal);
  const answer = await pass(ports, { call, binding: bind(token) }, request);
  if (answer.status !== UNAUTHORIZED) return answer;
  try {
    const another = await tokens.replace(token, signal);
    if (another === token || !canRepeat(request)) return answer;
    answer.cancel();
    return await pass(ports, { call, binding: bind(another) }, request);
  } catch (error) {
    answer.cancel();
    throw error;
  }
}

function canRepeat({ body }: PassedRequest): boolean {
  return body === undefined || Buffer.isBuffer(body);
}
