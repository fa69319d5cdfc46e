import type { Egress } from '../../egress/index.ts';
import type { Config, Connector } from '../contract.ts';

export interface Redactor {
  readonly add: (secret: string) => void;
  readonly redact: (text: string) => string;
}

export interface ClientPorts {
  readonly egress: Pick<Egress, 'request'>;
  readonly redactor: Redactor;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Where the simulators run; without it an instance with `simulator: true` is refused. */
  readonly simulatorsUrl?: string;
}

/** On whose behalf a request is sent. */
export interface ProviderCall {
  readonly connector: Connector;
  /** Keep the object as long as the configuration is the same: what is derived from it is kept with it. */
  readonly config: Config;
  readonly signal: AbortSignal;
  /** Called for every request that is sent, retries and redirects included. */
  readonly onProviderCall?: () => void;
  /** Called with the headers of every answer, whatever its status. */
  readonly onAnswer?: (headers: Readonly<Record<string, string>>) => void;
  /** Default true: failures that may pass are tried again. */
  readonly retry?: boolean;
}
