import { type ProviderFile, type RateLimitState, readRateLimit } from '../connector/client/index.ts';
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
  readonly execute: <Input, Output>(operation: Operation<Input, Output>, input: Input) => Promise<Output>;
  readonly signal: AbortSignal;
  readonly providerCalls: () => number;
  readonly report: () => CallReport;
}

/** @throws AppError FORBIDDEN for a disabled instance, unless the call only describes it; the fault of one that cannot be called. */
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
  let providerCalls = 0;
  let rateLimit: RateLimitState | undefined;
  const call = {
    connector: instance.connector,
    config: instance.config,
    tokens: ports.tokensOf(instance),
    signal,
    onProviderCall: () => {
      providerCalls++;
    },
    onAnswer: (headers: Readonly<Record<string, string>>) => {
      rateLimit = instance.connector.rateLimit?.(headers) ?? readRateLimit(headers, ports.now()) ?? rateLimit;
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
    send: (request) => judged(ports.client.send(call, request)),
    sendForFile: (request) => judged(ports.client.sendForFile(call, request)),
    execute: (operation, input) => judged(ports.client.execute(operation, input, call)),
    providerCalls: () => providerCalls,
    report: () => ({ providerCalls, ...(rateLimit !== undefined && { rateLimit }) }),
  };
}
