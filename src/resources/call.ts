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
  /** As `execute`, for what only describes objects. Many providers tell that to everybody, so it proves nothing of records. */
  readonly discover: InstanceCall['execute'];
  readonly signal: AbortSignal;
  /** All that is needed of the provider's answers so far is this many bytes. */
  readonly keep: (bytes: number) => void;
  readonly providerCalls: () => number;
  readonly report: () => CallReport;
}

const DISCOVERY = 'describe objects';

/**
 * The answers of the provider are counted until `signal` aborts, which it does at the end of the request. `work` is what is
 * done to records, such as `list employees`; without it objects are only described.
 * @throws AppError FORBIDDEN for a disabled instance, unless the call only describes it; the fault of one that cannot be called
 */
export function startCall(
  ports: ResourcePorts,
  instance: ConnectedInstance,
  signal: AbortSignal,
  work: string | undefined,
): InstanceCall {
  if (instance.fault !== undefined) throw new AppError(instance.fault.code, instance.fault.message);
  if (instance.disabled && work !== undefined) {
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
  const judged = async <Result>(what: string, result: Promise<Result>): Promise<Result> => {
    try {
      const answer = await result;
      if (!instance.valid) await ports.onCredentials(instance, { kind: 'accepted', work: what });
      return answer;
    } catch (error) {
      if (isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) {
        await ports.onCredentials(instance, { kind: 'refused', work: what });
      }
      throw error;
    }
  };
  const records = work ?? DISCOVERY;
  return {
    instance,
    signal,
    keep: hold.keep,
    send: (request) => judged(records, ports.client.send(call, request)),
    pass: (request) => ports.client.pass(call, request),
    sendForFile: (request) => judged(`${records} as a file`, ports.client.sendForFile(call, request)),
    execute: (operation, input) => judged(records, ports.client.execute(operation, input, call)),
    discover: (operation, input) => judged(DISCOVERY, ports.client.execute(operation, input, call)),
    providerCalls: () => providerCalls,
    report: () => ({ providerCalls, ...(rateLimit !== undefined && { rateLimit }) }),
  };
}
