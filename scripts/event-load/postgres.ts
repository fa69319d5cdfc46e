import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { findBinaries } from '../../embedded/binaries.ts';
import { createCluster, SUPERUSER } from '../../embedded/cluster.ts';
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
import { migrateDatabase } from '../../src/db/migrate.ts';
import { firstOf } from '../../src/db/row.ts';
import { createEventPartitions } from '../../src/events/upkeep/upkeep.ts';
import { createLogger } from '../../src/log.ts';

/** A PostgreSQL server of its own for a measurement. It is as durable as in production, and restarts at the same place after a crash. */
export interface LoadDatabase {
  readonly url: string;
  readonly knex: Knex;
  readonly accountId: number;
  /** Ends the server at once, without flushing and without notice to clients. Resolves when it accepts connections again. */
  readonly crash: () => Promise<void>;
  readonly walBytes: () => Promise<number>;
  /** Returns the CPU milliseconds of all processes of the server. */
  readonly cpuMs: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const CLOCK_TICKS_PER_SECOND = 100;
const log = createLogger({ level: 'fatal' });

export async function startLoadDatabase(): Promise<LoadDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-load-'));
  await chmod(folder, 0o711);
  const user = isRoot() ? await ensureServerUser(log) : undefined;
  const binaries = await findBinaries(user);
  const cluster = await createCluster({ dataDir: folder, binaries, user, durable: true, log });
  const port = await freePort();
  const options = { program: binaries.postgres, directory: cluster.directory, port, user, durable: true, log };
  let server: Postmaster = await startPostmaster(options);
  const killAtExit = () => void signalProcess(server.pid, 'SIGQUIT');
  process.once('exit', killAtExit);
  // A signal would end this process without its exit handlers, and leave the server running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  const url = `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/postgres`;
  await migrateDatabase({ url, log });
  const database = openDatabase({ url, poolSize: 4, log });
  const { knex } = database;
  await createEventPartitions({ knex, log, clock: SYSTEM_CLOCK }, { retentionDays: 30 }).ensure();

  return {
    url,
    knex,
    accountId: await createAccount(knex),
    crash: async () => {
      signalProcess(server.pid, 'SIGQUIT');
      while ((await findRunningPostmaster(cluster.directory)) !== undefined);
      server = await startPostmaster(options);
    },
    walBytes: async () => {
      const { rows } = await knex.raw("select (pg_current_wal_lsn() - '0/0')::float8 as bytes");
      return rows[0].bytes;
    },
    cpuMs: () => cpuMsOfServer(server.pid),
    stop: async () => {
      await database.close();
      await stopPostmaster(cluster.directory, server);
      process.off('exit', killAtExit);
      await rm(cluster.directory, { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function createAccount(knex: Knex): Promise<number> {
  const organizations = await knex('organization').insert({ name: 'load' }).returning('id');
  const { id } = firstOf(organizations);
  return firstOf(
    await knex('account').insert({ organization_id: id, name: 'load', external_id: 'load' }).returning('id'),
  ).id;
}

/** Returns the CPU time of the server and its children, including those that ended (proc(5): utime, stime, cutime, cstime). */
async function cpuMsOfServer(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
  const own = await ticksOf(pid, [11, 12, 13, 14]);
  const living = await Promise.all(children.map((child) => ticksOf(Number(child), [11, 12])));
  return (living.reduce((sum, ticks) => sum + ticks, own) * 1000) / CLOCK_TICKS_PER_SECOND;
}

async function ticksOf(pid: number, indexes: readonly number[]): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    return indexes.reduce((sum, index) => sum + Number(fields[index]), 0);
  } catch {
    // The process has ended meanwhile, and its parent includes its time.
    return 0;
  }
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer().once('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() =>
      typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('No port is free')),
    );
  });
  return promise;
}
