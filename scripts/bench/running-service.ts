import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLOCK_TICKS_PER_SECOND = 100;
const POLL_MS = 5;
/** The option that `npm start` sets. */
const AS_STARTED = ['--max-semi-space-size=16'];
/**
 * Modules that are loaded first: the one that `npm start` loads, and the one that stops the service when the script ends, however that
 * ends.
 */
const PRELOADED = ['src/preload.cjs', 'scripts/ends-with-starter.cjs'].flatMap((file) => [
  '--require',
  join(ROOT, file),
]);
/** Settings for one user who sends requests as fast as possible. */
export const UNLIMITED = { RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' };

/** A service that runs in a process of its own on free ports. */
export interface RunningService {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly origin: string;
  /** Base URL of the API. */
  readonly baseUrl: string;
  readonly simulatorsUrl: string;
  readonly secrets: Readonly<Record<'userSecret' | 'organizationSecret', string>>;
  /** The `Authorization` header of platform calls. */
  readonly authorization: string;
  /** Stops the service gracefully. */
  readonly stop: () => Promise<void>;
}

export interface ServiceOptions {
  /** Folder of the service's data, from which its credentials are read. */
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
  /** Default: `src/main.ts`. */
  readonly program?: string;
  /** Standard streams of the process, such as a channel (`ipc`) or an input. Default: its output is discarded. */
  readonly stdio?: SpawnOptions['stdio'];
}

/**
 * Starts a service, which ends with the calling script in any case.
 * @throws Error if it ends before it is ready
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const {
    dataDir,
    environment,
    execArgv = [],
    program = 'src/main.ts',
    stdio = ['pipe', 'ignore', 'ignore'],
  } = options;
  const ports = await freePorts();
  const child = spawn(process.execPath, [...AS_STARTED, ...PRELOADED, ...execArgv, program], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      ...environment,
      DATA_DIR: dataDir,
      ...ports,
    },
    stdio,
  });
  const origin = `http://127.0.0.1:${ports.PORT}`;
  const file = join(dataDir, 'credentials.json');
  while (!(await isReady(origin)) || !existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`The service ended with exit code ${child.exitCode}`);
    await sleep(POLL_MS);
  }
  const secrets: RunningService['secrets'] = JSON.parse(readFileSync(file, 'utf8'));
  return {
    child,
    pid: child.pid ?? 0,
    origin,
    baseUrl: `${origin}/elements/api-v2`,
    simulatorsUrl: `http://127.0.0.1:${ports.SIMULATORS_PORT}`,
    secrets,
    authorization: `User ${secrets.userSecret}, Organization ${secrets.organizationSecret}`,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isReady(origin: string): Promise<boolean> {
  return fetch(`${origin}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Returns the user and system time of processes and their threads, in milliseconds (proc(5), utime and stime). */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
  }, 0);
}
