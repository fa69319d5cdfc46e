import type { Knex } from 'knex';
import type { Clock } from './clock.ts';
import type { Keyring } from './db/keyring.ts';
import type { Notifier } from './db/notifier.ts';
import type { PlatformKeys } from './db/platform-keys.ts';
import type { PoolShares } from './db/pool-shares.ts';
import type { Egress } from './egress/index.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';

/** What every room of the service stands on. It is made once, when the process starts. */
export interface Platform {
  readonly knex: Knex;
  readonly shares: PoolShares;
  readonly keyring: Keyring;
  readonly keys: PlatformKeys;
  readonly notifier: Notifier;
  readonly egress: Egress;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Random {
  /** Fit for secrets. */
  readonly bytes: (size: number) => Buffer;
  /** From 0 to 1, and not fit for secrets: it spreads retries. */
  readonly fraction: () => number;
}
