import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ensureDataDir, isRoot } from '../src/db/data-dir.ts';
import { StartError } from '../src/errors.ts';
import type { Logger } from '../src/log.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, createCluster, findCluster, ownerOf, SUPERUSER } from './cluster.ts';
import { findFreePort } from './free-port.ts';
import { keepRunning, type OwnedServer } from './keep-running.ts';
import {
  findRunningPostmaster,
  OWNER_PREFIX,
  type Postmaster,
  signalProcess,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { ensureServerUser, type ServerUser } from './server-user.ts';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: Logger;
  /** Whether data survives a power failure. False is faster and meant for tests. Default: true. */
  readonly durable?: boolean;
  /** Called if the server has ended and cannot be restarted. Default: the error is logged. */
  readonly onLost?: (error: unknown) => void;
  /** Aborts when this process begins to stop. A server that ends after that is not restarted. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres {
  /** URL of the database with its password. The server listens on 127.0.0.1, on a port that changes with every start of this process. */
  readonly url: string;
  /** Closes the remaining connections and shuts the server down cleanly. */
  readonly stop: () => Promise<void>;
}

/** Key of an advisory lock, an arbitrary number. The session that holds the lock owns the server. */
const OWNER_LOCK = 7_205_003;
const START_ATTEMPTS = 3;
const TAKE_OVER_MS = 15_000;
/** Maximum milliseconds in which a process locks the server that it has started. */
const CLAIM_MS = 3_000;
const POLL_MS = 20;
const NEVER = new AbortController().signal;

/**
 * Starts a PostgreSQL server for this process under `dataDir`, and creates the database at the first start. A server that a killed process
 * has left is stopped first. A server that dies while this process runs is restarted on the same port. The server ends with this process,
 * however that ends.
 * @throws Error when another process runs on the same `dataDir`, or the server cannot start; the message says which
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, durable = true, signal = NEVER } = options;
  const onLost =
    options.onLost ??
    ((error) => log.fatal({ err: error }, 'the embedded PostgreSQL has stopped and could not restart'));
  const dataDir = resolve(options.dataDir);
  await ensureDataDir(dataDir);
  const existing = await findCluster(dataDir);
  const user = await serverUser(existing, log);
  const binaries = await findBinaries(user);
  const cluster = existing ?? (await createCluster({ dataDir, binaries, user, durable, log }));
  return startServer({ dataDir, log, durable, onLost, signal, cluster, user, program: binaries.postgres });
}

async function serverUser(existing: Cluster | undefined, log: Logger): Promise<ServerUser | undefined> {
  if (!isRoot()) return undefined;
  return existing === undefined ? ensureServerUser(log) : ownerOf(existing);
}

interface ServerOptions extends Required<EmbeddedPostgresOptions> {
  readonly cluster: Cluster;
  readonly user: ServerUser | undefined;
  readonly program: string;
}

async function startServer(options: ServerOptions): Promise<EmbeddedPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    await stopOrphan(options);
    try {
      return await startOwnServer(options);
    } catch (error) {
      // Another program may have taken the port, or another process may have started at the same moment. The next attempt reports it.
      if (error instanceof DataDirInUseError || attempt === START_ATTEMPTS) throw error;
      options.log.debug({ err: error }, 'the embedded PostgreSQL did not start; trying again');
    }
  }
}

async function startOwnServer(options: ServerOptions): Promise<EmbeddedPostgres> {
  const { cluster, dataDir, log } = options;
  const port = await findFreePort();
  const own = async (server: OwnedServer['server']): Promise<OwnedServer> => {
    const owner = await connectTo(cluster, server);
    if (await claim(owner)) return { server, owner };
    await owner.end();
    throw new DataDirInUseError(dataDir);
  };
  const start = async () => own(await startPostmaster({ ...options, directory: cluster.directory, port }));
  const first = await start();
  const { release } = keepRunning(first, {
    start,
    own,
    isFinal: (error) => error instanceof DataDirInUseError,
    onLost: options.onLost,
    signal: options.signal,
    log,
  });
  return {
    url: urlOf(cluster, first.server),
    stop: async () => stopPostmaster(cluster.directory, await release()),
  };
}

/** The error of a second start on one DATA_DIR, which must not touch the files of the first one. */
class DataDirInUseError extends StartError {
  constructor(dataDir: string, processId?: number) {
    const owner = processId === undefined ? 'another process' : `process ${processId}`;
    super(`DATA_DIR ${dataDir} is in use by ${owner}; stop it, or start this one with another DATA_DIR`);
  }
}

/** Stops a server that was left by a killed process. */
async function stopOrphan({ cluster, dataDir, log }: ServerOptions): Promise<void> {
  const startedAt = Date.now();
  let lastError: unknown;
  while (Date.now() < startedAt + TAKE_OVER_MS) {
    const server = await findRunningPostmaster(cluster.directory);
    if (server === undefined) return;
    try {
      const mayBeStarting = Date.now() < startedAt + CLAIM_MS;
      if (await takeDownOrphan({ cluster, server, dataDir, mayBeStarting, log })) return;
    } catch (error) {
      if (error instanceof DataDirInUseError) throw error;
      // The server is starting, recovering or shutting down.
      lastError = error;
    }
    await delay(POLL_MS);
  }
  throw new Error(`The PostgreSQL server of ${cluster.directory} runs and accepts no connection`, { cause: lastError });
}

interface RunningServer {
  readonly cluster: Cluster;
  readonly server: Postmaster;
  readonly dataDir: string;
  readonly mayBeStarting: boolean;
  readonly log: Logger;
}

/**
 * Stops a server without an owner. Returns false if the caller must look again. An advisory lock shows the owner of a running server:
 * unlike a file or a process id, it ends with the connection of its process, however that process ends.
 * @throws DataDirInUseError
 */
async function takeDownOrphan({ cluster, server, dataDir, mayBeStarting, log }: RunningServer): Promise<boolean> {
  const client = await connectTo(cluster, server);
  client.on('error', (error) => log.debug({ err: error }, 'the server ended the connection'));
  try {
    const { processId, isClaimed } = await readOwner(client);
    const isOwnerAlive = signalProcess(processId, 0);
    if (isOwnerAlive && isClaimed) throw new DataDirInUseError(dataDir, processId);
    if (isOwnerAlive && mayBeStarting) return false;
    if (!(await claim(client))) return false;
    log.warn({ pid: server.pid }, 'stopping the embedded PostgreSQL of a process that was killed');
    await stopPostmaster(cluster.directory, server);
    return true;
  } finally {
    await client.end();
  }
}

async function connectTo(cluster: Cluster, server: Postmaster): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlOf(cluster, server),
    application_name: 'causeway owner',
    connectionTimeoutMillis: TAKE_OVER_MS,
  });
  // Without a listener, a connection that breaks between its statements would end this process. A broken statement rejects by itself.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function claim(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as claimed', [OWNER_LOCK]);
  return rows[0]?.claimed === true;
}

async function readOwner(client: pg.Client): Promise<{ readonly processId: number; readonly isClaimed: boolean }> {
  const { rows } = await client.query(
    `select substr(current_setting('cluster_name'), length($1) + 1)::int as process_id,
       exists (select from pg_locks where locktype = 'advisory' and objid = $2 and granted) as is_claimed`,
    [OWNER_PREFIX, OWNER_LOCK],
  );
  return { processId: Number(rows[0]?.process_id), isClaimed: rows[0]?.is_claimed === true };
}

function urlOf({ password }: Cluster, { port }: Postmaster): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
}
