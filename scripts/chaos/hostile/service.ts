import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCluster, SUPERUSER } from '../../../embedded/cluster.ts';
import { findRunningPostmaster, signalProcess, stopPostmaster } from '../../../embedded/postmaster.ts';
import type { ProbeQuestion, ProbeReport, ProbeResponse } from './messages.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const HEAP_MB = 512;
const READY_MS = 60_000;
const POLL_MS = 50;
const STOP_MS = 15_000;
const ANSWER_MS = 60_000;
const KEPT_ERROR_BYTES = 4_000;

type Question = ProbeQuestion extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never;

/** The real service in its own process, with the probe inside. */
export interface Service {
  /** Origin of the service, without the path of the API. */
  readonly origin: string;
  readonly baseUrl: string;
  readonly pid: number;
  readonly begin: (profiled: boolean) => Promise<void>;
  readonly end: (profile?: string) => Promise<ProbeReport>;
  readonly keptBytes: () => Promise<number>;
  /** Returns the reason why the process ended. Undefined while it runs. */
  readonly ended: () => string | undefined;
}

/** A folder in which the service can be started repeatedly. */
export interface Home {
  readonly start: () => Promise<Service>;
  readonly databaseUrl: () => Promise<string>;
  readonly dataDir: string;
  /** Stops the service gracefully. @returns the milliseconds that it took */
  readonly stopService: () => Promise<number>;
  /** Stops everything that runs, and removes the folder and the database. */
  readonly remove: () => Promise<void>;
}

export async function createHome({ logFile }: { readonly logFile?: string | undefined }): Promise<Home> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-hostile-'));
  await chmod(dataDir, 0o711);
  const output = logFile === undefined ? 'ignore' : openSync(logFile, 'w');
  let child: ChildProcess | undefined;
  let cluster: string | undefined;
  let postmaster: number | undefined;

  /** An interrupted run must leave nothing behind either. */
  process.once('exit', () => {
    child?.kill('SIGKILL');
    if (postmaster !== undefined) signalProcess(postmaster, 'SIGQUIT');
    for (const folder of foldersOf(dataDir, cluster)) rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<Service> {
    const environment = { ...process.env, ...SETTINGS, DATA_DIR: dataDir };
    const started = spawn(process.execPath, [...FLAGS, 'src/main.ts'], {
      cwd: ROOT,
      env: environment,
      stdio: ['ignore', output, 'pipe', 'ipc'],
    });
    child = started;
    const errors = keepLast(started);
    const endedBecause = watchEnd(started, errors);
    const probe = createProbe(started);
    const baseUrl = await untilReady(dataDir, endedBecause);
    cluster = (await findCluster(dataDir))?.directory;
    postmaster = cluster === undefined ? undefined : (await findRunningPostmaster(cluster))?.pid;
    return {
      origin: new URL(baseUrl).origin,
      baseUrl,
      pid: started.pid ?? 0,
      begin: async (profiled) => void (await probe({ kind: 'begin', profiled })),
      end: async (profile) => (await probe({ kind: 'end', profile })) as ProbeReport,
      keptBytes: async () => (await probe({ kind: 'memory' })) as number,
      ended: endedBecause,
    };
  }

  async function stopService(): Promise<number> {
    const startedAt = performance.now();
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return 0;
    const ended = new Promise((done) => child?.once('exit', done));
    child.kill('SIGTERM');
    const late = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
    return performance.now() - startedAt;
  }

  async function databaseUrl(): Promise<string> {
    const found = await findCluster(dataDir);
    const server = found === undefined ? undefined : await findRunningPostmaster(found.directory);
    if (found === undefined || server === undefined) throw new Error(`No database runs in ${dataDir}`);
    return `postgres://${SUPERUSER}:${found.password}@127.0.0.1:${server.port}/postgres`;
  }

  async function remove(): Promise<void> {
    await stopService();
    const server = cluster === undefined ? undefined : await findRunningPostmaster(cluster);
    if (cluster !== undefined && server !== undefined) await stopPostmaster(cluster, server);
    postmaster = undefined;
    for (const folder of foldersOf(dataDir, cluster)) await rm(folder, { recursive: true, force: true });
  }

  return { start, stopService, remove, databaseUrl, dataDir };
}

const FLAGS = [
  `--max-old-space-size=${HEAP_MB}`,
  '--expose-gc',
  '--require',
  join(ROOT, 'scripts/ends-with-starter.cjs'),
  '--import',
  new URL('probe.ts', import.meta.url).href,
];

/** The settings of a production service, with free ports. */
const SETTINGS = { NODE_ENV: 'production', LOG_LEVEL: 'info', PORT: '0', SIMULATORS_PORT: '0', HOST: '127.0.0.1' };

/** Returns the folders to remove. If root runs the service, its database has a folder of its own. */
function foldersOf(dataDir: string, cluster: string | undefined): readonly string[] {
  return cluster === undefined ? [dataDir] : [dirname(cluster), dataDir];
}

function keepLast(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-KEPT_ERROR_BYTES);
  });
  return () => text;
}

function watchEnd(child: ChildProcess, errors: () => string): () => string | undefined {
  let reason: string | undefined;
  child.once('exit', (code, signal) => {
    const words = /FATAL ERROR: [^\n]*|\w*Error: [^\n]*/.exec(errors())?.[0] ?? '';
    reason = `${signal ?? `exit code ${code}`} ${words}`.trim();
  });
  return () => reason;
}

function createProbe(child: ChildProcess): (question: Question) => Promise<unknown> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  child.on('message', ({ id, value }: ProbeResponse) => {
    waiting.get(id)?.resolve(value);
    waiting.delete(id);
  });
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The service ended'));
    waiting.clear();
  });
  return (question) => {
    const id = ++lastId;
    const asked = Promise.withResolvers<unknown>();
    if (!child.connected) return Promise.reject(new Error('The service ended'));
    waiting.set(id, asked);
    child.send({ ...question, id });
    const late = setTimeout(() => asked.reject(new Error(`The service stood still for ${ANSWER_MS} ms`)), ANSWER_MS);
    return asked.promise.finally(() => clearTimeout(late));
  };
}

async function untilReady(dataDir: string, endedBecause: () => string | undefined): Promise<string> {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    const reason = endedBecause();
    if (reason !== undefined) throw new Error(`The service did not start: ${reason}`);
    const baseUrl = await findReady(dataDir);
    if (baseUrl !== undefined) return baseUrl;
    await sleep(POLL_MS);
  }
  throw new Error(`The service did not start within ${READY_MS} ms`);
}

/** Returns the base URL once the service is ready. A file of an earlier run may name a port on which nothing listens any more. */
async function findReady(dataDir: string): Promise<string | undefined> {
  try {
    const { baseUrl } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
    const { ok } = await fetch(new URL('/health/ready', baseUrl));
    return ok ? baseUrl : undefined;
  } catch {
    return undefined;
  }
}
