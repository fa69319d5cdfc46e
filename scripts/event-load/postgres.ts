import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { findBinaries } from '../../embedded/binaries.ts';
import { createCluster, SUPERUSER } from '../../embedded/cluster.ts';
import { findFreePort } from '../../embedded/free-port.ts';
import {
  findRunningPostmaster,
  type Postmaster,
  signalProcess,
  startPostmaster,
  stopPostmaster,
} from '../../embedded/postmaster.ts';
import { ensureServerUser } from '../../embedded/server-user.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { isRoot } from '../../src/db/data-dir.ts';
import { openDatabase } from '../../src/db/database.ts';
import { distributeDatabase } from '../../src/db/distribute.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { firstOf } from '../../src/db/row.ts';
import { createEventPartitions } from '../../src/events/upkeep/upkeep.ts';
import { createLogger } from '../../src/log.ts';
import { query } from '../../test/support/nodes.ts';
import { cpuMsWithChildren } from '../bench/measure.ts';
import { createDataDir, removeDataDir } from '../bench/running-service.ts';
import { openClusterServer } from './cluster.ts';

/** A PostgreSQL server, or a node of a cluster. It restarts at the same place after a crash. */
export interface LoadNode {
  readonly url: string;
  readonly pid: () => Promise<number>;
  /**
   * Ends the server at once, without flushing and without notice to clients. Resolves when it accepts connections again.
   * @param downMs milliseconds for which it stays away
   */
  readonly crash: (downMs?: number) => Promise<void>;
}

/** A new and empty database. */
export interface LoadServer {
  readonly url: string;
  /** Whether its tables will be split by account over several nodes. */
  readonly isDistributed: boolean;
  /** The servers of the database: the coordinator first. */
  readonly nodes: readonly LoadNode[];
  readonly stop: () => Promise<void>;
}

/** The database of a measurement. */
export interface LoadDatabase extends LoadServer {
  readonly knex: Knex;
  readonly accountIds: readonly number[];
  /** Returns the bytes of log that all nodes have written. */
  readonly walBytes: () => Promise<number>;
  /** Returns the CPU milliseconds of all processes of the nodes. */
  readonly cpuMs: () => Promise<number>;
}

const DRAIN_POLL_MS = 50;
const log = createLogger({ level: 'fatal' });

/**
 * Creates a migrated database with accounts of one organization: on the cluster of `.ci/with-citus` if that started this command, otherwise on an embedded server of its own,
 * which is as durable as in production.
 */
export async function startLoadDatabase({ accounts = 1 } = {}): Promise<LoadDatabase> {
  const server = (await openClusterServer()) ?? (await startEmbeddedServer());
  const { url, nodes } = server;
  await migrateDatabase({ url, log });
  if (server.isDistributed) await distributeDatabase({ url, log });
  const database = openDatabase({ url, poolSize: 4, log });
  const { knex } = database;
  await createEventPartitions({ knex, log, clock: SYSTEM_CLOCK }, { retentionDays: 30 }).ensure();
  const accountIds = await createAccounts(knex, accounts);
  return {
    ...server,
    knex,
    accountIds,
    walBytes: () => sumOf(nodes, walBytesOf),
    cpuMs: () => sumOf(nodes, async ({ pid }) => cpuMsWithChildren(await pid())),
    stop: async () => {
      await database.close();
      await server.stop();
    },
  };
}

async function startEmbeddedServer(): Promise<LoadServer> {
  const dataDir = await createDataDir();
  const user = isRoot() ? await ensureServerUser(log) : undefined;
  const binaries = await findBinaries(user);
  const cluster = await createCluster({ dataDir, binaries, user, durable: true, log });
  const port = await findFreePort();
  const options = { program: binaries.postgres, directory: cluster.directory, port, user, durable: true, log };
  let server: Postmaster = await startPostmaster(options);
  const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/postgres`;
  const node: LoadNode = {
    url,
    pid: async () => server.pid,
    crash: async (downMs = 0) => {
      signalProcess(server.pid, 'SIGQUIT');
      while ((await findRunningPostmaster(cluster.directory)) !== undefined);
      await sleep(downMs);
      server = await startPostmaster(options);
    },
  };
  return {
    url,
    isDistributed: false,
    nodes: [node],
    stop: async () => {
      await stopPostmaster(cluster.directory, server);
      await removeDataDir(dataDir);
    },
  };
}

async function createAccounts(knex: Knex, count: number): Promise<readonly number[]> {
  if (count === 0) return [];
  const { id } = firstOf(await knex('organization').insert({ name: 'load' }).returning('id'));
  const rows = Array.from({ length: count }, (_, index) => {
    const name = index === 0 ? 'load' : `load ${index}`;
    return { organization_id: id, name, external_id: name };
  });
  return (await knex('account').insert(rows).returning('id')).map((account) => account.id).sort((a, b) => a - b);
}

async function sumOf(nodes: readonly LoadNode[], read: (node: LoadNode) => Promise<number>): Promise<number> {
  const values = await Promise.all(nodes.map(read));
  return values.reduce((sum, value) => sum + value, 0);
}

async function walBytesOf({ url }: LoadNode): Promise<number> {
  const rows = await query<{ bytes: number }>(url, "select (pg_current_wal_lsn() - '0/0')::float8 as bytes");
  return firstOf(rows).bytes;
}

/**
 * Waits until a table is empty, by default that of deliveries.
 * @returns the number of rows that are still left after the timeout, and the time it took
 */
export async function drained(
  knex: Knex,
  {
    table = 'delivery',
    timeoutMs = Number.POSITIVE_INFINITY,
  }: { readonly table?: string; readonly timeoutMs?: number } = {},
): Promise<{ readonly left: number; readonly ms: number }> {
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await knex.raw('select exists (select 1 from ??) as found', [table]);
    const ms = performance.now() - startedAt;
    if (!rows[0].found) return { left: 0, ms };
    if (ms > timeoutMs)
      return { left: (await knex.raw('select count(*) as count from ??', [table])).rows[0].count, ms };
    await sleep(DRAIN_POLL_MS);
  }
}
