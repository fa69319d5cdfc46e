import { onAbort } from '../clock.ts';
import type {
  AccessTokens,
  ByteBudget,
  CallTally,
  PassedRequest,
  PassedResponse,
  ProviderClient,
} from '../connector/client/index.ts';
import { MOST_OBJECT_MEMBERS } from '../connector/client/response-limits.ts';
import type {
  Config,
  Connector,
  ConnectorContext,
  Operation,
  ProviderRequest,
  ProviderResponse,
  UploadInput,
  UploadOperation,
} from '../connector/contract.ts';
import { AppError, type ErrorCode, isAppError } from '../errors.ts';
import type { RateBudgets } from './rate-budget/index.ts';
import { assertMembers } from './record.ts';

/** The parts of an instance that a call to its provider needs. */
export interface ConnectedInstance {
  readonly accountId: number;
  readonly id: number;
  /**
   * A number that grows with every change of `config` and of the credentials. It is part of the key of all cached data about the provider.
   */
  readonly settingsVersion: number;
  readonly connector: Connector;
  /** The configuration with secrets in clear text. */
  readonly config: Config;
  readonly disabled: boolean;
  /** Whether the provider accepts the credentials, as far as is known. */
  readonly valid: boolean;
  /** The calls that the provider rejected since the instance became invalid, by `work` of the verdicts. */
  readonly refusedCalls: readonly string[];
  /** The reason why the instance cannot be called at all. */
  readonly fault?: { readonly code: ErrorCode; readonly message: string };
}

/** The outcome of a call for the credentials. `work` is its purpose, such as `list employees`. */
interface CredentialVerdict {
  readonly kind: 'accepted' | 'refused';
  readonly work: string;
}

/** The parts of other rooms that a call needs. */
export interface CallNeighbours {
  readonly client: ProviderClient;
  /** The memory for responses of providers. */
  readonly budget: ByteBudget;
  /** Returns the access tokens of an instance whose connector uses OAuth. */
  readonly tokensOf: (instance: ConnectedInstance) => AccessTokens | undefined;
  /** Records that the provider rejected the instance's credentials, or that it accepted a call of an invalid instance. */
  readonly noteCredentials: (instance: ConnectedInstance, verdict: CredentialVerdict) => Promise<void>;
  /** Called when the provider rejects a call, because the known description of its objects may be outdated. */
  readonly noteRejection?: (instance: ConnectedInstance, error: AppError) => void;
}

/** A count of the calls for one request to the provider, for the response headers. */
export type CallReport = Readonly<CallTally>;

/** The calls to a provider for one request to us. */
export type InstanceCall = ReturnType<typeof startCall>;

const DISCOVERY = 'describe objects';

/**
 * Starts the calls for a request. The memory of the provider's responses is counted until `signal` aborts, which it does at the end of the
 * request. `work` is the action on records, such as `list employees`; without it, objects are only described.
 * @throws AppError FORBIDDEN for a disabled instance, unless the call only describes objects; the fault of an instance that cannot be
 * called
 */
export function startCall(
  {
    client,
    budget,
    tokensOf,
    noteCredentials,
    noteRejection,
    rateBudgets,
  }: CallNeighbours & { readonly rateBudgets: RateBudgets },
  instance: ConnectedInstance,
  signal: AbortSignal,
  work: string | undefined,
  tally: CallTally = { providerCalls: 0 },
) {
  if (instance.fault !== undefined) throw new AppError(instance.fault.code, instance.fault.message);
  if (instance.disabled && work !== undefined) {
    throw new AppError(
      'FORBIDDEN',
      `Instance ${instance.id} is disabled. Enable it with PUT /instances/${instance.id}/enabled.`,
    );
  }
  const hold = budget.open(instance.accountId);
  if (signal.aborted) hold.close();
  else onAbort(signal, hold.close);
  const { connector, config } = instance;
  let mostMembers = 0;
  const noteMembers = (members: number) => {
    mostMembers = Math.max(mostMembers, members);
  };
  const tokens = connector.auth.type === 'oauth2' ? tokensOf(instance) : undefined;
  const gate = rateBudgets.gateOf(instance);
  const call = { connector, config, tokens, signal, hold, tally, noteMembers, gate };

  async function judged<Result>(what: string, result: Promise<Result>): Promise<Result> {
    try {
      const found = await result;
      if (!instance.valid) await noteCredentials(instance, { kind: 'accepted', work: what });
      return found;
    } catch (error) {
      if (isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) {
        await noteCredentials(instance, { kind: 'refused', work: what });
      } else if (isAppError(error, 'PROVIDER_REJECTED')) noteRejection?.(instance, error);
      throw error;
    }
  }

  const records = work ?? DISCOVERY;
  return {
    instance,
    signal,
    /** The calls so far. */
    tally: tally satisfies CallReport,
    /** Sets the number of bytes that are still needed of the provider's responses. */
    keep: hold.keep,
    /**
     * Counts bytes that are made of the responses.
     * @returns false where the account, or the process, has no memory for them; then nothing is counted
     */
    take: hold.take,
    /** Returns the number of bytes that are counted now. */
    held: hold.held,
    /**
     * Asserts that a record of a response is not too large, before anything walks over it.
     * @throws AppError PROVIDER_PROTOCOL for a record with more than 100,000 members
     */
    assertMembers: (record: unknown): void => {
      // No record has more members than its response.
      if (mostMembers > MOST_OBJECT_MEMBERS) assertMembers(record);
    },
    send: (request: ProviderRequest) => judged(records, client.send(call, request)),
    /** Passes a request on. The caller judges the response, so a rejection says nothing about the credentials. */
    pass: (request: PassedRequest): Promise<PassedResponse> => client.pass(call, request),
    sendForFile: (request: ProviderRequest) => judged(`${records} as a file`, client.sendForFile(call, request)),
    /** Sends a file. Its bytes are sent once, whatever the outcome is. */
    upload: <Input extends UploadInput>(
      operation: UploadOperation<Input>,
      input: Input,
      bytes: AsyncIterable<Buffer>,
    ) => judged(records, client.upload(operation, { input, bytes }, call)),
    /** Returns the error of a call whose response would have been `response`. */
    judge: (response: Pick<ProviderResponse, 'status' | 'body'>) => client.judge(call, response),
    execute: <Input, Output>(operation: Operation<Input, Output>, input: Input) =>
      judged(records, client.execute(operation, input, call)),
    /** Runs a discovery. Many providers describe objects without credentials, so its success proves nothing about records. */
    discover: <Found>(find: (context: ConnectorContext) => Promise<Found>) =>
      judged(DISCOVERY, client.execute({ run: find }, undefined, call)),
  };
}
