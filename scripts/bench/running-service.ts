import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCluster } from '../../embedded/cluster.ts';
import { findFreePort } from '../../embedded/free-port.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const POLL_MS = 5;
const READY_MS = 120_000;
const STOP_MS = 30_000;
const KEPT_CHARACTERS = 4_000;
/** The options with which `npm start` starts Node.js. */
const AS_STARTED = ['--max-semi-space-size=16', '--require', join(ROOT, 'src/preload.cjs')];
/** Options for Node.js with which a program ends when its starter ends, however that ends. */
export const ENDS_WITH_STARTER = ['--require', join(ROOT, 'scripts/ends-with-starter.cjs')];
/** Settings for one user who sends requests as fast as possible. */
export const UNLIMITED = { RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' };

const ENCRYPTION_KEYS = `1:${randomBytes(32).toString('base64')}`;

/** Returns the settings of services that share a database, and that call providers and receivers of the script. */
export function settingsOn(databaseUrl: string) {
  const egress = { EGRESS_ALLOW: '127.0.0.0/8' };
  return { ...UNLIMITED, ...egress, DATABASE_URL: databaseUrl, ENCRYPTION_KEYS, LOG_LEVEL: 'error' };
}

/** The configuration of an instance on the simulator of BambooHR. */
export const DEMO = { username: 'demo-key', 'company.name': 'acme', simulator: true };
/** The query on `employees` that measurements send. */
export const QUERY = {
  where: "status = 'Active' AND hireDate >= 2020-01-01",
  fields: 'id,firstName,lastName,hireDate,status',
  pageSize: '20',
};

/** A service that runs in a process of its own on free ports. */
export interface RunningService {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly origin: string;
  /** Base URL of the API. */
  readonly baseUrl: string;
  readonly simulatorsUrl: string;
  /** Returns the end of what the process wrote to its standard error, if that is a pipe. */
  readonly lastErrors: () => string;
  readonly secrets: Readonly<Record<'userSecret' | 'organizationSecret', string>>;
  /** The `Authorization` header of platform calls. */
  readonly authorization: string;
  /**
   * Calls the API, and returns the parsed body of its response.
   * @throws CallError for a response other than 2xx
   */
  readonly call: <Body>(path: string, call?: Call) => Promise<Body>;
  /** Stops the service gracefully. */
  readonly stop: () => Promise<void>;
}

export interface Call {
  /** Default: POST for a call with a body, otherwise GET. */
  readonly method?: string;
  readonly body?: object;
  /** The token of an instance. Undefined: a call of the platform. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A response other than 2xx. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;

  constructor(call: string, status: number, text: string) {
    super(`${call} returned ${status}: ${text}`);
    this.status = status;
  }
}

export interface ServiceOptions {
  /** Folder of the service's data, from which its credentials are read. */
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
  /** Standard streams of the process, such as a channel (`ipc`) or an input. Default: its output is discarded, and its errors are kept. */
  readonly stdio?: SpawnOptions['stdio'] | undefined;
}

/**
 * Starts a service, which ends with the calling script in any case.
 * @throws Error if it ends before it is ready, with its last errors
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { dataDir, environment, execArgv = [], stdio = ['pipe', 'ignore', 'pipe'] } = options;
  const port = await findFreePort();
  const simulatorsPort = await findFreePort();
  const child = spawn(process.execPath, [...AS_STARTED, ...ENDS_WITH_STARTER, ...execArgv, 'src/main.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      ...environment,
      DATA_DIR: dataDir,
      PORT: String(port),
      SIMULATORS_PORT: String(simulatorsPort),
    },
    stdio,
  });
  const closed = once(child, 'close');
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-KEPT_CHARACTERS);
  });
  const origin = `http://127.0.0.1:${port}`;
  const file = join(dataDir, 'credentials.json');
  const deadline = performance.now() + READY_MS;
  while (!(await isReady(origin)) || !existsSync(file)) {
    if (hasEnded(child)) {
      await closed;
      throw new Error(`The service ended (${child.signalCode ?? child.exitCode}) before it was ready:\n${errors}`);
    }
    if (performance.now() > deadline) throw new Error(`The service was not ready within ${READY_MS / 1000} s`);
    await sleep(POLL_MS);
  }
  const secrets: RunningService['secrets'] = JSON.parse(readFileSync(file, 'utf8'));
  const baseUrl = `${origin}/elements/api-v2`;
  const authorization = `User ${secrets.userSecret}, Organization ${secrets.organizationSecret}`;

  async function call<Body>(path: string, { body, token, headers, method, signal }: Call = {}): Promise<Body> {
    const verb = method ?? (body === undefined ? 'GET' : 'POST');
    const response = await fetch(baseUrl + path, {
      method: verb,
      headers: {
        authorization: token === undefined ? authorization : `User ${secrets.userSecret}, Element ${token}`,
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    if (!response.ok) throw new CallError(`${verb} ${path}`, response.status, text);
    return JSON.parse(text);
  }

  return {
    child,
    pid: child.pid ?? 0,
    origin,
    baseUrl,
    simulatorsUrl: `http://127.0.0.1:${simulatorsPort}`,
    lastErrors: () => errors,
    secrets,
    authorization,
    call,
    stop: async () => {
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function isReady(origin: string): Promise<boolean> {
  return fetch(`${origin}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs work with a temporary folder for the data of services, and removes the folder afterwards. */
export async function withDataDir<Result>(work: (dataDir: string) => Promise<Result>): Promise<Result> {
  const dataDir = await createDataDir();
  try {
    return await work(dataDir);
  } finally {
    await removeDataDir(dataDir);
  }
}

/** Creates a temporary folder for the data of services. The database, which runs as another user if this one is root, can enter it. */
export async function createDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-service-'));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** Returns the folders to remove. If root runs the service, its database has a folder of its own. */
export async function foldersOf(dataDir: string): Promise<readonly string[]> {
  const cluster = await findCluster(dataDir);
  return cluster === undefined ? [dataDir] : [dirname(cluster.directory), dataDir];
}

export async function removeDataDir(dataDir: string): Promise<void> {
  for (const folder of await foldersOf(dataDir)) await rm(folder, { recursive: true, force: true });
}

/** Runs work with a service that has a temporary folder. Afterwards, it stops the service and removes the folder. */
export function withService<Result>(
  options: Omit<ServiceOptions, 'dataDir'>,
  work: (service: RunningService) => Promise<Result>,
): Promise<Result> {
  return withDataDir(async (dataDir) => {
    const service = await startService({ ...options, dataDir });
    try {
      return await work(service);
    } finally {
      await service.stop();
    }
  });
}

/** Creates an instance on the simulator of BambooHR. */
export function connectDemo(
  { call }: RunningService,
  more: object = {},
): Promise<{ readonly id: number; readonly token: string }> {
  const body = { element: { key: 'bamboohr' }, name: 'demo', configuration: { ...DEMO, ...more } };
  return call('/instances', { body });
}

/** Returns the query on `employees` as a request to the instance of a token. */
export function queryOf({ baseUrl, secrets }: RunningService, token: string) {
  const authorization = `User ${secrets.userSecret}, Element ${token}`;
  return { url: `${baseUrl}/employees?${new URLSearchParams(QUERY)}`, headers: { authorization } };
}
