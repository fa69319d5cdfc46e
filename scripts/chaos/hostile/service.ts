import { openSync, rmSync } from 'node:fs';
import { findCluster, SUPERUSER } from '../../../embedded/cluster.ts';
import { findRunningPostmaster } from '../../../embedded/postmaster.ts';
import {
  createDataDir,
  foldersOf,
  type RunningService,
  removeDataDir,
  startService,
} from '../../bench/running-service.ts';
import { createAsk } from '../../event-load/channel.ts';
import type { ProbeQuestion, ProbeReport } from './messages.ts';

const HEAP_MB = 512;
const ANSWER_MS = 60_000;
const PROBE = new URL('probe.ts', import.meta.url).href;
const FLAGS = [`--max-old-space-size=${HEAP_MB}`, '--expose-gc', '--import', PROBE];

/** The real service in its own process, with the probe inside. */
export interface Service extends Pick<RunningService, 'origin' | 'baseUrl'> {
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
  /** Stops the service gracefully. */
  readonly stopService: () => Promise<void>;
  /** Stops everything that runs, and removes the folder and the database. */
  readonly remove: () => Promise<void>;
}

export async function createHome({ logFile }: { readonly logFile?: string | undefined }): Promise<Home> {
  const dataDir = await createDataDir();
  const output = logFile === undefined ? 'ignore' : openSync(logFile, 'w');
  let running: RunningService | undefined;
  let folders: readonly string[] = [dataDir];

  /** An interrupted run must leave nothing behind either. The database ends with the service. */
  process.once('exit', () => {
    running?.child.kill('SIGKILL');
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<Service> {
    running = await startService({
      dataDir,
      environment: { LOG_LEVEL: 'info' },
      execArgv: FLAGS,
      stdio: ['ignore', output, 'pipe', 'ipc'],
    });
    const ended = watchEnd(running);
    folders = await foldersOf(dataDir);
    const ask = createAsk<ProbeQuestion>(running.child);
    return {
      origin: running.origin,
      baseUrl: running.baseUrl,
      begin: (profiled) => ask({ kind: 'begin', profiled }, ANSWER_MS),
      end: (profile) => ask({ kind: 'end', profile }, ANSWER_MS),
      keptBytes: () => ask({ kind: 'memory' }, ANSWER_MS),
      ended,
    };
  }

  async function stopService(): Promise<void> {
    await running?.stop();
  }

  async function databaseUrl(): Promise<string> {
    const found = await findCluster(dataDir);
    const server = found === undefined ? undefined : await findRunningPostmaster(found.directory);
    if (found === undefined || server === undefined) throw new Error(`No database runs in ${dataDir}`);
    return `postgres://${SUPERUSER}:${found.password}@127.0.0.1:${server.port}/postgres`;
  }

  async function remove(): Promise<void> {
    await stopService();
    await removeDataDir(dataDir);
  }

  return { start, stopService, remove, databaseUrl, dataDir };
}

/** Returns a function that returns the reason why a process ended, with the last error that it printed. */
function watchEnd({ child, lastErrors }: RunningService): () => string | undefined {
  let reason: string | undefined;
  child.once('exit', (code, signal) => {
    const words = /FATAL ERROR: [^\n]*|\w*Error: [^\n]*/.exec(lastErrors())?.[0] ?? '';
    reason = `${signal ?? `exit code ${code}`} ${words}`.trim();
  });
  return () => reason;
}
