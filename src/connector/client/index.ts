import type { Operation, ProviderRequest, ProviderResponse } from '../contract.ts';
import { DEFAULT_TIMEOUT_MS, makeAttempt } from './attempt.ts';
import { createBindings } from './binding.ts';
import { execute } from './execute.ts';
import { prepareOutgoing } from './outgoing.ts';
import type { ClientPorts, ProviderCall } from './ports.ts';
import { isIdempotent, planRetry } from './retry.ts';
import { resolveTarget } from './target.ts';

export type { ClientPorts, ProviderCall, Redactor } from './ports.ts';
export { type RateLimitState, readRateLimit } from './rate-limit.ts';

export interface ProviderClient {
  /** Answers what the connector or a 2xx status calls a success. @throws AppError for the rest; the reason of `signal` when it aborts. */
  readonly send: (call: ProviderCall, request: ProviderRequest) => Promise<ProviderResponse>;
  /** What `send` would send first, with every secret masked; nothing is sent. */
  readonly preview: (call: Pick<ProviderCall, 'connector' | 'config'>, request: ProviderRequest) => RequestPreview;
  readonly execute: <Input, Output>(
    operation: Operation<Input, Output>,
    input: Input,
    call: ProviderCall,
  ) => Promise<Output>;
}

/** A request for people to read. */
export interface RequestPreview {
  readonly method: string;
  /** At the provider, also when a simulator would answer. */
  readonly url: string;
  readonly body?: string;
}

export function createProviderClient(ports: ClientPorts): ProviderClient {
  const getBinding = createBindings(ports);

  async function send(call: ProviderCall, request: ProviderRequest): Promise<ProviderResponse> {
    const binding = getBinding(call.connector, call.config);
    const deadlineMs = ports.now() + (call.connector.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const target = resolveTarget(binding, request);
    const outgoing = prepareOutgoing(binding, request);
    const idempotent = isIdempotent(request);
    for (let retries = 0; ; retries++) {
      const outcome = await makeAttempt(ports, { binding, call, request, outgoing, target, deadlineMs });
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
    const url = ports.redactor.redact(resolveTarget(binding, request).href);
    return { method, url, ...(body !== undefined && { body: ports.redactor.redact(body) }) };
  }

  return { send, preview, execute: (operation, input, call) => execute(send, operation, input, call) };
}

async function sleepUnlessAborted(ports: ClientPorts, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await ports.sleep(ms, signal);
  } finally {
    signal.throwIfAborted();
  }
}
