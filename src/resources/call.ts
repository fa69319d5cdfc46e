import { onAbort } from '../abort.ts';
import type {
  AccessTokens,
  ByteBudget,
  CallTally,
  PassedRequest,
  PassedResponse,
  ProviderClient,
} from '../connector/client/index.ts';
import { MOST_OBJECT_MEMBERS } from '../connector/client/json-pieces.ts';
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
import type { RateLimits } from './rate-limits.ts';
import { assertMembers } from './record.ts';

/** An instance as far as a call to its provider needs it. */
export interface ConnectedInstance {
  readonly accountId: number;
  readonly id: number;
  /** Another with every change of `config` and of the credentials: what is found out about the provider is kept for one of them. */
  readonly settingsVersion: number;
  readonly connector: Connector;
  /** Secrets in clear. */
  readonly config: Config;
  readonly disabled: boolean;
  /** Whether the provider takes the credentials, as far as is known. */
  readonly valid: boolean;
  /** What the provider refused since it is not valid, by the `work` of verdicts. */
  readonly refusedCalls: readonly string[];
  /** Why it cannot be called at all. */
  readonly fault?: { readonly code: ErrorCode; readonly message: string };
}

/** The outcome of a call. `work` says what it was for, such as `list employees`. */
export interface CredentialVerdict {
  readonly kind: 'accepted' | 'refused';
  readonly work: string;
}

/** What a call needs of the rooms beside this one. */
export interface CallNeighbours {
  readonly client: ProviderClient;
  /** The memory for responses of providers. */
  readonly budget: ByteBudget;
  /** The access tokens of an instance whose connector uses OAuth. */
  readonly tokensOf: (instance: ConnectedInstance) => AccessTokens | undefined;
  /** Takes down that the provider refuses the instance's credentials, and what it does for an instance that is not valid. */
  readonly noteCredentials: (instance: ConnectedInstance, verdict: CredentialVerdict) => Promise<void>;
}

/** What the calls for one request did at the provider, for the response headers. */
export type CallReport = Readonly<CallTally>;

/** The calls made at a provider on behalf of one request to us. */
export type InstanceCall = ReturnType<typeof startCall>;

const DISCOVERY = 'describe objects';

/**
 * The responses of the provider are counted until the request ends, as `onAbort` of `signal` reports it. `work` is what is
 * done to records, such as `list employees`; without it objects are only described.
 * @throws AppError FORBIDDEN for a disabled instance, unless the call only describes it; the fault of one that cannot be called
 */
export function startCall(
  { client, budget, tokensOf, noteCredentials, rateLimits }: CallNeighbours & { readonly rateLimits: RateLimits },
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
  const call = { connector, config, tokens, signal, hold, tally, noteMembers };

  /** Polls leave what is left of the provider's limit to callers, whichever call was told of it. */
  function noteLimit(before: CallTally['rateLimit']): void {
    const { rateLimit } = tally;
    if (rateLimit !== undefined && rateLimit !== before) rateLimits.note(instance, rateLimit);
  }

  async function judged<Result>(what: string, result: Promise<Result>): Promise<Result> {
    const before = tally.rateLimit;
    try {
      const found = await result;
      if (!instance.valid) await noteCredentials(instance, { kind: 'accepted', work: what });
      return found;
    } catch (error) {
      if (isAppError(error, 'INSTANCE_CREDENTIALS_FAILED')) {
        await noteCredentials(instance, { kind: 'refused', work: what });
      }
      throw error;
    } finally {
      noteLimit(before);
    }
  }

  async function pass(request: PassedRequest): Promise<PassedResponse> {
    const before = tally.rateLimit;
    try {
      return await client.pass(call, request);
    } finally {
      noteLimit(before);
    }
  }

  const records = work ?? DISCOVERY;
  return {
    instance,
    signal,
    /** What was done so far. */
    tally: tally satisfies CallReport,
    /** All that is needed of the provider's responses so far is this many bytes. */
    keep: hold.keep,
    /** So many bytes more are made of the responses. @returns false where the account, or the process, has no room for them: nothing was taken */
    take: hold.take,
    /** What is counted now. */
    held: hold.held,
    /** Before anything walks over a record of a response. @throws AppError PROVIDER_PROTOCOL for one of more than 100,000 members */
    assertMembers: (record: unknown): void => {
      // No record has more members than the answer that it is in.
      if (mostMembers > MOST_OBJECT_MEMBERS) assertMembers(record);
    },
    send: (request: ProviderRequest) => judged(records, client.send(call, request)),
    /** What comes back is the caller's to judge: a refusal says nothing about the credentials. */
    pass,
    sendForFile: (request: ProviderRequest) => judged(`${records} as a file`, client.sendForFile(call, request)),
    /** The bytes go once, whatever comes of it. */
    upload: <Input extends UploadInput>(
      operation: UploadOperation<Input>,
      input: Input,
      bytes: AsyncIterable<Buffer>,
    ) => judged(records, client.upload(operation, { input, bytes }, call)),
    /** The error that a call would have failed with, had the provider answered so. */
    judge: (answer: Pick<ProviderResponse, 'status' | 'body'>) => client.judge(call, answer),
    execute: <Input, Output>(operation: Operation<Input, Output>, input: Input) =>
      judged(records, client.execute(operation, input, call)),
    /** For what only describes objects. Many providers tell that to everybody, so it proves nothing of records. */
    discover: <Found>(find: (context: ConnectorContext) => Promise<Found>) =>
      judged(DISCOVERY, client.execute({ run: find }, undefined, call)),
  };
}
