import type { Egress } from '../../egress/index.ts';
import type { Config, Connector } from '../contract.ts';
import type { ByteBudget, Hold } from './byte-budget.ts';
import type { SentRequest } from './measure.ts';

export interface TellingPorts {
  readonly egress: Pick<Egress, 'request' | 'stream'>;
  /** Called for every request that was sent, when it has ended. */
  readonly onRequest?: (request: SentRequest) => void;
}

export interface ClientPorts extends TellingPorts {
  /** For the answers of calls that have no `hold`. Default: no bound. */
  readonly budget?: ByteBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Where the simulators run; without it an instance with `simulator: true` is refused. */
  readonly simulatorsUrl?: string;
}

/** The access tokens of one instance. */
export interface AccessTokens {
  /** One that is good now. @throws AppError INSTANCE_CREDENTIALS_FAILED, PROVIDER_UNAVAILABLE; the reason of the signal */
  readonly current: (signal: AbortSignal) => Promise<string>;
  /** Another one than the provider refused, or the same where there is no other. @throws as `current` */
  readonly replace: (refused: string, signal: AbortSignal) => Promise<string>;
}

/** On whose behalf a request is sent. */
export interface ProviderCall {
  readonly connector: Connector;
  /** Keep the object as long as the configuration is the same: what is derived from it is kept with it. */
  readonly config: Config;
  /** For connectors with OAuth: every call of theirs needs one. */
  readonly tokens?: AccessTokens | undefined;
  readonly signal: AbortSignal;
  /** Whose it is. */
  readonly accountId?: number;
  /** Where the memory of answers is counted, what they are parsed to included. Default: one that ends with the call. */
  readonly hold?: Hold;
  /** Called for every request that is sent, retries and redirects included. */
  readonly onProviderCall?: () => void;
  /** Called with the headers of every answer, whatever its status. */
  readonly onAnswer?: (headers: Readonly<Record<string, string>>) => void;
  /** Default true: failures that may pass are tried again. */
  readonly retry?: boolean;
}
