import { isAppError } from '../../errors.ts';
import type { Operation, ProviderRequest, ProviderResponse } from '../contract.ts';
import { type Attempt, DEFAULT_TIMEOUT_MS, makeAttempt } from './attempt.ts';
import { createBindings, createTokenBinder } from './binding.ts';
import { createByteBudget } from './byte-budget.ts';
import { execute } from './execute.ts';
import { prepareOutgoing } from './outgoing.ts';
import { type PassedAnswer, type PassedRequest, pass, passWithToken } from './passthrough.ts';
import type { AccessTokens, ClientPorts, ProviderCall } from './ports.ts';
import { isIdempotent, planRetry } from './retry.ts';
import { resolveTarget } from './target.ts';

export { type ByteBudget, createByteBudget, type Hold } from './byte-budget.ts';
export { toUnreadable } from './execute.ts';
export type { PassedAnswer, PassedRequest } from './passthrough.ts';
export type { AccessTokens, ClientPorts, ProviderCall } from './ports.ts';
export { judgeRateLimit, type RateLimitState, readRateLimit } from './rate-limit.ts';

export interface ProviderClient {
  /** @returns what the connector or a 2xx status calls a success. @throws AppError for the rest; the reason of `signal` when it aborts. */
  readonly send: (call: ProviderCall, request: ProviderRequest) => Promise<ProviderResponse>;
  /** As `send`, for an answer that is passed on byte for byte, whatever it is. */
  readonly sendForFile: (call: ProviderCall, request: ProviderRequest) => Promise<ProviderFile>;
  /** Passes a request on as it is, but for the authentication. @returns what the provider says, whatever that is. @throws AppError where it says nothing */
  readonly pass: (call: ProviderCall, request: PassedRequest) => Promise<PassedAnswer>;
  /** What `send` would send first, with every secret masked; nothing is sent. */
  readonly preview: (call: Pick<ProviderCall, 'connector' | 'config'>, request: ProviderRequest) => RequestPreview;
  readonly execute: <Input, Output>(
    operation: Operation<Input, Output>,
    input: Input,
    call: ProviderCall,
  ) => Promise<Output>;
}

export interface ProviderFile {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A request for people to read. */
export interface RequestPreview {
  readonly method: string;
  /** At the provider, also when a simulator would answer. */
  readonly url: string;
  readonly body?: string;
}

/** One request on its way, whatever number of attempts it takes. */
type Errand = Pick<Attempt, 'binding' | 'call' | 'request' | 'target' | 'expects'>;

export function createProviderClient(ports: ClientPorts): ProviderClient {
  const budget = ports.budget ?? createByteBudget(Number.POSITIVE_INFINITY);
  const getBinding = createBindings(ports);
  const bindToken = createTokenBinder();

  async function send(
    call: ProviderCall,
    request: ProviderRequest,
    expects: Attempt['expects'] = 'record',
  ): Promise<ProviderResponse> {
    if (call.hold !== undefined) return sendCounted(call, request, expects);
    const hold = budget.open(call.accountId);
    try {
      return await sendCounted({ ...call, hold }, request, expects);
    } finally {
      hold.close();
    }
  }

  function sendCounted(
    call: ProviderCall,
    request: ProviderRequest,
    expects: Attempt['expects'],
  ): Promise<ProviderResponse> {
    const binding = getBinding(call.connector, call.config);
    const errand = { binding, call, request, target: resolveTarget(binding, request), expects };
    const needsToken = call.connector.auth.type === 'oauth2' && request.anonymous !== true;
    return needsToken ? sendWithToken(errand) : sendBound(errand);
  }

  /** A refused token was not enough to have anything done, so that with another one the same is sent again, whatever its method. */
  async function sendWithToken(errand: Errand): Promise<ProviderResponse> {
    const { binding, call } = errand;
    const tokens = getTokens(call);
    const token = await tokens.current(call.signal);
    try {
      return await sendBound({ ...errand, binding: bindToken(binding, token) });
    } catch (error) {
      if (!isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) throw error;
      const another = await tokens.replace(token, call.signal);
      if (another === token) throw error;
      return sendBound({ ...errand, binding: bindToken(binding, another) });
    }
  }

  async function sendBound({ binding, call, request, target, expects }: Errand): Promise<ProviderResponse> {
    const deadlineMs = ports.now() + (call.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const outgoing = prepareOutgoing(binding, request);
    const idempotent = isIdempotent(request);
    for (let retries = 0; ; retries++) {
      const outcome = await makeAttempt(ports, { binding, call, request, outgoing, target, expects, deadlineMs });
      if (outcome.kind === 'answered') return outcome.response;
      const { failed } = outcome;
      const remainingMs = deadlineMs - ports.now();
      const waitMs = planRetry(ports.random, { failed, retries, idempotent, remainingMs });
      if (waitMs === undefined || call.retry === false) throw failed.error;
      await sleepUnlessAborted(ports, waitMs, call.signal);
    }
  }

  function preview(call: Pick<ProviderCall, 'connector' | 'config'>, request: ProviderRequest): RequestPreview {
    const binding = getBinding(call.connector, call.config);
    const { method, body } = prepareOutgoing(binding, request);
    const { redact } = binding.redactor;
    const url = redact(resolveTarget(binding, request).href);
    return { method, url, ...(body !== undefined && { body: redact(body) }) };
  }

  async function sendForFile(call: ProviderCall, request: ProviderRequest): Promise<ProviderFile> {
    const { headers, body } = await send(call, request, 'file');
    if (!Buffer.isBuffer(body)) throw new Error('The client read a file as something else');
    return { headers, bytes: body };
  }

  return {
    send: (call, request) => send(call, request),
    sendForFile,
    pass: async (call, request) => {
      const binding = getBinding(call.connector, call.config);
      if (call.connector.auth.type !== 'oauth2') return pass(ports, { call, binding }, request);
      return passWithToken(ports, { call, bind: (token) => bindToken(binding, token) }, request);
    },
    preview,
    execute: (operation, input, call) => execute(send, operation, input, call),
  };
}

function getTokens({ tokens, connector }: ProviderCall): AccessTokens {
  if (tokens === undefined) throw new Error(`A call to ${connector.name} needs the access tokens of its instance`);
  return tokens;
}

async function sleepUnlessAborted(ports: ClientPorts, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await ports.sleep(ms, signal);
  } finally {
    signal.throwIfAborted();
  }
}
