import {
  judgeRateLimit,
  type PassedAnswer,
  type PassedRequest,
  type ProviderFile,
  type RateLimitState,
  readRateLimit,
} from '../connector/client/index.ts';
import type { Operation, ProviderRequest, ProviderResponse } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ConnectedInstance, ResourcePorts } from './ports.ts';

/** What the calls for one request did at the provider, for the response headers. */
export interface CallReport {
  readonly providerCalls: number;
  readonly rateLimit?: RateLimitState;
}

/** The calls made at a provider on behalf of one request to us. */
export interface InstanceCall {
  readonly instance: ConnectedInstance;
  readonly send: (request: ProviderRequest) => Promise<ProviderResponse>;
  readonly sendForFile: (request: ProviderRequest) => Promise<ProviderFile>;
  /** What it answers is the caller's to judge: a refusal says nothing about the credentials. */
  readonly pass: (request: PassedRequest) => Promise<PassedAnswer>;
  readonly execute: <Input, Output>(operation: Operation<Input, Output>, input: Input) => Promise<Output>;
  readonly signal: AbortSignal;
  /** All that is needed of the provider's answers so far is this many bytes. */
  readonly keep: (bytes: number) => void;
  readonly providerCalls: () => number;
  readonly report: () => CallReport;
}

/**
 * The answers of the provider are counted until `signal` aborts, which it does at the end of the request.
 * @throws AppError FORBIDDEN for a disabled instance, unless the call only describes it; the fault of one that cannot be called
 */
export function startCall(
  ports: ResourcePorts,
  instance: ConnectedInstance,
  signal: AbortSignal,
  purpose: 'discovery' | 'records' = 'records',
): InstanceCall {
  if (instance.fault !== undefined) throw new AppError(instance.fault.code, instance.fault.message);
  if (instance.disabled && purpose === 'records') {
    throw new AppError(
      'FORBIDDEN',
      `Instance ${instance.id} is disabled; PUT /instances/${instance.id}/enabled switches it on.`,
    );
  }
  const hold = ports.budget.open(instance.accountId);
  if (signal.aborted) hold.close();
  else signal.addEventListener('abort', hold.close, { once: true });
  let providerCalls = 0;
  let rateLimit: RateLimitState | undefined;
  const call = {
    connector: instance.connector,
    config: instance.config,
    tokens: ports.tokensOf(instance),
    signal,
    hold,
    onProviderCall: () => {
      providerCalls++;
    },
    onAnswer: (headers: Readonly<Record<string, string>>) => {
      const own = instance.connector.rateLimit?.(headers);
      rateLimit = own === undefined ? (readRateLimit(headers, ports.now()) ?? rateLimit) : judgeRateLimit(own);
    },
  };
  const judged = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      const result = await work;
      if (!instance.valid) await ports.onCredentials(instance, 'accepted');
      return result;
    } catch (error) {
      if (isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) await ports.onCredentials(instance, 'refused');
      throw error;
    }
  };
  return {
    instance,
    signal,
    keep: hold.keep,
    send: (request) => judged(ports.client.send(call, request)),
    sendForFile: (request) => judged(ports.client.sendForFile(call, request)),
    pass: (request) => ports.client.pass(call, request),
    execute: (operation, input) => judged(ports.client.execute(operation, input, call)),
    providerCalls: () => providerCalls,
    report: () => ({ providerCalls, ...(rateLimit !== undefined && { rateLimit }) }),
  };
}
