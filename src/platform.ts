import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Cleanup } from './cleanup.ts';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import { type ServiceConfig, secretsOf } from './config/index.ts';
import { awaitDatabase } from './db/await-database.ts';
import { measureBacklog } from './db/backlog.ts';
import { ensureDataDir } from './db/data-dir.ts';
import { measurePool, openAside, openDatabase } from './db/database.ts';
import { distributeDatabase } from './db/distribute.ts';
import { assertKeysHeld } from './db/key-usage.ts';
import { createDevelopmentKeys, createKeyring, type Keyring } from './db/keyring.ts';
import { watchLiveness } from './db/liveness.ts';
import { migrateDatabase } from './db/migrate.ts';
import { createNotifier, type Notifier } from './db/notifier.ts';
import { openPlatformKeys, type PlatformKeys } from './db/platform-keys.ts';
import { createPoolShares, type PoolShares } from './db/pool-shares.ts';
import { createEgress, type Egress } from './egress/index.ts';
import type { Logger } from './log.ts';
import { createMetrics, type Metrics, measureBuild } from './metrics.ts';
import { createRedactor } from './redaction.ts';
import type { Tracer } from './trace.ts';
import { type Buckets, createWorkBuckets, type WorkBuckets } from './work-buckets.ts';

/** The parts that every room of the service uses. They are created once, when the process starts. */
export interface Platform {
  readonly knex: Knex;
  /** One connection outside the pool for statements after responses. It never takes a connection from a request. */
  readonly behind: Knex;
  readonly shares: PoolShares;
  readonly keyring: Keyring;
  readonly keys: PlatformKeys;
  readonly notifier: Notifier;
  /** The part of the due work in which this process looks. */
  readonly buckets: Buckets;
  readonly egress: Egress;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Tracer of this process; undefined if nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Random {
  /** Returns random bytes that are secure enough for secrets. */
  readonly bytes: (size: number) => Buffer;
  /** Returns a random number from 0 to 1, such as for spreading retries. It is not secure enough for secrets. */
  readonly fraction: () => number;
}

export const SYSTEM_RANDOM: Random = { bytes: randomBytes, fraction: Math.random };

interface PlatformOptions {
  readonly config: ServiceConfig;
  readonly databaseUrl: string;
  readonly simulatorsUrl: string | undefined;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

/** The platform, with functions that report its health. */
export interface OpenedPlatform extends Platform {
  readonly buckets: WorkBuckets;
  /** Returns whether one round trip to the database succeeds before the signal aborts. */
  readonly isReachable: (signal: AbortSignal) => Promise<boolean>;
  /** Returns whether statements of this process have failed for a while although the database serves others. */
  readonly isStuck: () => boolean;
}

/**
 * Waits for the database and brings its schema up to date.
 * @throws StartError, ConfigError, the reason of the signal, and whatever else the database says
 */
export async function prepareDatabase(
  { dataDir, databaseWaitMs, distributed }: ServiceConfig,
  { url, log, signal }: { readonly url: string; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await ensureDataDir(dataDir);
  await awaitDatabase({ url, waitMs: databaseWaitMs, log, signal });
  await migrateDatabase({ url, log });
  if (distributed !== undefined) await distributeDatabase({ url, log });
}

/**
 * Builds the platform.
 * @throws ConfigError when the keys do not fit the database; the errors of the database
 */
export async function composePlatform(options: PlatformOptions): Promise<OpenedPlatform> {
  const { config, databaseUrl: url, simulatorsUrl, log, cleanup } = options;
  const { databasePoolSize: poolSize } = config;
  const clock = SYSTEM_CLOCK;
  const metrics = createMetrics();
  measureBuild(metrics);
  const tracer = await openTracer(options, metrics);

  const { knex, isReachable, respondsToOthers, close } = openDatabase({ url, poolSize, log });
  cleanup.add('database', close);
  measurePool(knex, metrics);
  measureBacklog({ knex, metrics, clock });
  const behind = openAside({ url, log });
  cleanup.add('connection behind responses', () => behind.destroy());
  const liveness = watchLiveness({ works: isReachable, couldWork: respondsToOthers, clock, log });
  cleanup.add('liveness', liveness.stop);
  const shares = createPoolShares({ knex, poolSize, clock });
  const keyring = createKeyring(config.encryptionKeys ?? (await createDevelopmentKeys(config.dataDir)));
  const keys = await openPlatformKeys({ knex, keyring });
  await assertKeysHeld({ knex, keyring });
  const notifier = createNotifier({ url, knex, log, clock });
  cleanup.add('notifier', notifier.close);
  await notifier.start();
  const egress = createEgress({ allow: config.egressAllow, simulatorsUrl, quotesPrivate: config.isLocal, clock });
  cleanup.add('egress', egress.close);

  const { isStuck } = liveness;
  return {
    knex,
    behind,
    shares,
    keyring,
    keys,
    notifier,
    buckets: createWorkBuckets(),
    egress,
    log,
    metrics,
    tracer,
    clock,
    random: SYSTEM_RANDOM,
    isReachable,
    isStuck,
  };
}

const LONGEST_FLUSH_MS = 5_000;

/** The SDK of OpenTelemetry is not even read where nothing is traced. It is closed last, so that it has what the others did until then. */
async function openTracer({ config, log, cleanup }: PlatformOptions, metrics: Metrics): Promise<Tracer | undefined> {
  const { tracing, shutdownTimeoutMs } = config;
  if (tracing === undefined) return undefined;
  const { createTelemetry } = await import('./telemetry.ts');
  const redactor = createRedactor(secretsOf(config));
  const { tracer, close } = createTelemetry({ config: tracing, redactor, clock: SYSTEM_CLOCK, log, metrics });
  cleanup.add('telemetry', () => close(Math.min(shutdownTimeoutMs, LONGEST_FLUSH_MS)));
  return tracer;
}
