import type { AccessTokens, ByteBudget, ProviderClient } from '../connector/client/index.ts';
import type { Config, Connector } from '../connector/contract.ts';
import type { ErrorCode } from '../errors.ts';

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

/** What came of a call. `work` says what it was for, such as `list employees`. */
export interface Verdict {
  readonly kind: 'accepted' | 'refused';
  readonly work: string;
}

export interface ResourcePorts {
  readonly client: ProviderClient;
  /** The memory for answers of providers. */
  readonly budget: ByteBudget;
  /** Encrypts page tokens; `open` returns undefined for anything that `seal` did not make for the same context. */
  readonly seal: (plain: string, context: string) => string;
  readonly open: (sealed: string, context: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The access tokens of an instance whose connector uses OAuth. */
  readonly tokensOf: (instance: ConnectedInstance) => AccessTokens | undefined;
  /** Told when the provider refuses the instance's credentials, and of what it does for an instance that is not valid. */
  readonly onCredentials: (instance: ConnectedInstance, verdict: Verdict) => Promise<void>;
}
