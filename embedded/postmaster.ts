import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isErrnoException, readFileIfExists } from '../src/db/files.ts';
import type { Logger } from '../src/log.ts';
import { serverEnvironment } from './cluster.ts';
import { guardServer } from './guard.ts';
import type { ServerUser } from './server-user.ts';

/** A PostgreSQL server process. */
export interface Postmaster {
  readonly pid: number;
  /** Port on 127.0.0.1. */
  readonly port: number;
}

export interface PostmasterOptions {
  readonly program: string;
  readonly directory: string;
  readonly port: number;
  readonly user: ServerUser | undefined;
  /** Whether data survives a power failure. Tests use false. */
  readonly durable: boolean;
  readonly log: Logger;
}

const run = promisify(execFile);
/** Prefix of the server's `cluster_name`, followed by the id of the process that started it. `ps` shows the name as well. */
export const OWNER_PREFIX = 'causeway-';
const POLL_MS = 20;
const FAST_STOP_MS = 10_000;
const KEPT_LINES = 20;

/** Settings for a small machine with one program on it. None of them weakens the durability of a commit. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements of clients are not logged, because clients report them, without their values.
  log_min_messages: 'log',
};
/**
 * Settings for tests, which keep the connections of several services in each of their processes. Autovacuum would start a process several
 * times a second to look through the hundreds of databases of a run, none of which lives long enough to need it.
 */
const SETTINGS_OF_TESTS = { fsync: 'off', full_page_writes: 'off', max_connections: '200', autovacuum: 'off' };

/** Starts the server and waits until it accepts connections. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster & { process: ChildProcess }> {
  const { program, directory, port, user, durable, log } = options;
  const settings = {
    ...SETTINGS,
    ...(durable ? {} : SETTINGS_OF_TESTS),
    port: String(port),
    cluster_name: `${OWNER_PREFIX}${process.pid}`,
  };
  const server = spawn(
    program,
    ['-D', directory, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...user,
      cwd: directory,
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
      // In a process group of its own, so that Ctrl-C in a terminal only reaches this program, which then stops the server last.
      detached: process.platform !== 'win32',
      windowsHide: true,
    },
  );
  guardServer(server, log);
  const lastLines: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: server.stderr }).on('line', (line) => {
    log.debug({ line }, 'embedded PostgreSQL');
    lastLines.push(line);
    if (lastLines.length > KEPT_LINES) lastLines.shift();
    if (line.includes('database system is ready to accept connections')) ready.resolve();
  });
  server.on('error', ready.reject);
  server.on('close', (code, signal) => {
    ready.reject(new Error(`PostgreSQL ended (${signal ?? code}) before it was ready:\n${lastLines.join('\n')}`));
  });
  await ready.promise;
  if (server.pid === undefined) throw new Error('PostgreSQL started without a process id');
  return { pid: server.pid, port, process: server };
}

/** Returns the server that has the data directory open, or undefined. The file of a killed server does not count. */
export async function findRunningPostmaster(directory: string): Promise<Postmaster | undefined> {
  const file = pidFileOf(directory);
  const text = await readPidFile(directory);
  if (text === undefined) return undefined;
  const [pid = 0, , , port = 0] = text.split('\n').map(Number);
  if (pid > 0 && (await isPostmaster(pid, directory))) return { pid, port };
  // PostgreSQL refuses to start when the process id in the file belongs to another process, as it does after a restart of a container. The
  // file is read again first, because a server that has just started writes the same file.
  if ((await readPidFile(directory)) === text) await rm(file, { force: true });
  return undefined;
}

/**
 * Shuts the server down: first fast, which disconnects clients and leaves the data clean, then immediately, after which the next start
 * recovers.
 */
export async function stopPostmaster(directory: string, { pid }: Postmaster): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!signalProcess(pid, signal)) return;
    if (await isGone(directory, pid, FAST_STOP_MS)) return;
  }
  throw new Error(`The embedded PostgreSQL (process ${pid}) does not stop`);
}

/** Sends a signal to a process. Returns false if there is no such process. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (isErrnoException(error, 'ESRCH')) return false;
    if (isErrnoException(error, 'EPERM') && signal === 0) return true;
    throw error;
  }
}

/** A stopped server removes its pid file. Its process id may stay in use, because nobody may collect the status of an orphan. */
async function isGone(directory: string, pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const text = await readPidFile(directory);
    if (text === undefined || Number.parseInt(text, 10) !== pid || !signalProcess(pid, 0)) return true;
    await delay(POLL_MS);
  }
  return false;
}

function pidFileOf(directory: string): string {
  return join(directory, 'postmaster.pid');
}

function readPidFile(directory: string): Promise<string | undefined> {
  return readFileIfExists(pidFileOf(directory));
}

/** Returns whether the process runs PostgreSQL on this directory, according to its command line. */
async function isPostmaster(pid: number, directory: string): Promise<boolean> {
  try {
    return (await commandLineOf(pid)).includes(directory);
  } catch (error) {
    if (!signalProcess(pid, 0)) return false;
    throw error;
  }
}

/** Returns the command line of a process. On Windows it is unknown: there, the server's own check of its shared memory must be enough. */
async function commandLineOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8');
  if (process.platform === 'win32') return '';
  return (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout;
}
