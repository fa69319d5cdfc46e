/**
 * Builds what the Dockerfile describes and tries it on a database: `node scripts/check-image.ts`. If a container engine runs, it builds the
 * image; otherwise it performs the same steps in an empty folder. The database is that of TEST_DATABASE_URL, or an embedded one. Exit code
 * 1 when a step fails, or the service does not work.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { VARIABLES } from '../src/config/index.ts';
import { createLogger } from '../src/log.ts';
import { ENDS_WITH_STARTER } from './bench/running-service.ts';
import { parseDockerfile, type Step } from './image/dockerfile.ts';

interface Made {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

const ROOT = resolve(import.meta.dirname, '..');
const READY_MS = 120_000;
const run = promisify(execFile);

const folder = await mkdtemp(join(tmpdir(), 'causeway-image-'));

async function openDatabase(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: async () => undefined };
  const log = createLogger({ level: 'warn' });
  return startEmbeddedPostgres({ dataDir: join(folder, 'database'), log, durable: false });
}

function makeSecrets() {
  const secret = () => randomBytes(24).toString('base64url');
  return {
    ENCRYPTION_KEYS: `check:${randomBytes(32).toString('base64')}`,
    BOOTSTRAP_ORGANIZATION_SECRET: secret(),
    BOOTSTRAP_USER_SECRET: secret(),
  };
}

/** Returns whether a container engine runs. The client program alone is not enough. */
async function hasEngine(): Promise<boolean> {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}']);
    return true;
  } catch {
    return false;
  }
}

async function buildImage(settings: Readonly<Record<string, string>>): Promise<Made> {
  const tag = 'causeway:check';
  await run('docker', ['build', '--tag', tag, ROOT]);
  const names = Object.keys(settings).flatMap((name) => ['--env', name]);
  const args = ['run', '--rm', '--network=host', ...names, tag];
  return { command: 'docker', args, folder: ROOT, environment: settings };
}

/** The state of the current stage. */
interface Progress {
  /** The folder that replaces the root of the file system of each stage, by its name. */
  readonly roots: Map<string, string>;
  /** The folder of the stage. */
  root: string;
  folder: string;
  environment: Record<string, string>;
  command: readonly string[];
}

/** The actions that replace steps without an image. A step without an action fails, because a check that skips it would prove nothing. */
const STEPS: Readonly<Record<string, (step: Step, progress: Progress) => Promise<void> | void>> = {
  FROM: ({ text }, progress) => {
    const [, version = '', name = 'image'] = /^node:(\d+)\S*(?:\s+AS\s+(\S+))?$/.exec(text) ?? [];
    if (!process.version.startsWith(`v${version}.`)) throw new Error(`FROM ${text} is not this ${process.version}`);
    progress.root = join(folder, name);
    progress.roots.set(name, progress.root);
    progress.environment = {};
  },
  WORKDIR: async ({ text }, progress) => {
    progress.folder = join(progress.root, text);
    await mkdir(progress.folder, { recursive: true });
  },
  ENV: ({ text }, { environment }) => {
    const [name = '', value = ''] = text.split(/=(.*)/s);
    environment[name] = value;
  },
  COPY: async ({ text }, progress) => {
    const [, stage, rest = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(text) ?? [];
    const source = stage === undefined ? ROOT : progress.roots.get(stage);
    if (source === undefined) throw new Error(`COPY ${text}: there is no stage before it of this name`);
    const paths = rest.split(/\s+/);
    const target = paths.pop() ?? '';
    for (const path of paths) {
      const place = join(progress.folder, target, target.endsWith('/') ? path : '');
      await cp(join(source, path), place, { recursive: true });
    }
  },
  RUN: async ({ text }, { environment, folder: cwd }) => {
    // Only caches are mounted, and the machine has its own.
    const command = text.replace(/^(?:--mount=type=cache,\S+\s+)*/, '');
    await run('sh', ['-c', command], { cwd, env: { ...shellEnvironment(), ...environment } });
  },
  USER: () => {},
  EXPOSE: () => {},
  HEALTHCHECK: () => {},
  CMD: ({ text }, progress) => {
    progress.command = JSON.parse(text);
  },
};

/** Returns the environment for shell commands: with this Node.js first in the path, and without variables of npm and of the service. */
function shellEnvironment(): NodeJS.ProcessEnv {
  const ownNames: readonly string[] = Object.values(VARIABLES).map(({ name }) => name);
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') && !ownNames.includes(name));
  return { ...Object.fromEntries(others), PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
}

async function followSteps(settings: Readonly<Record<string, string>>): Promise<Made> {
  const progress: Progress = { roots: new Map(), root: folder, folder, environment: {}, command: [] };
  for (const step of parseDockerfile(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))) {
    const follow = STEPS[step.instruction];
    if (follow === undefined) throw new Error(`The Dockerfile has ${step.instruction}, which cannot be checked here`);
    await follow(step, progress);
  }
  const [command = '', ...args] = progress.command;
  const environment = { ...progress.environment, DATA_DIR: join(folder, 'data'), ...settings };
  return { command, args, folder: progress.folder, environment };
}

/** Checks that the service becomes ready, accepts the given secrets, and exits with 0 after SIGTERM. It ends with this script, too. */
async function tryService(made: Made, secrets: ReturnType<typeof makeSecrets>): Promise<void> {
  const env = { ...shellEnvironment(), ...made.environment, NODE_OPTIONS: ENDS_WITH_STARTER.join(' ') };
  const child = spawn(made.command, made.args, { cwd: made.folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  try {
    const baseUrl = await untilReady(child);
    const { BOOTSTRAP_USER_SECRET: user, BOOTSTRAP_ORGANIZATION_SECRET: organization } = secrets;
    await assertAnswers(new URL('/health/ready', baseUrl));
    await assertAnswers(new URL('/docs', baseUrl));
    await assertAnswers(new URL('/console', baseUrl));
    await assertAnswers(`${baseUrl}/elements`, { authorization: `User ${user}, Organization ${organization}` });
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
  if (child.exitCode !== 0) throw new Error(`The service ended with ${child.exitCode ?? child.signalCode}`);
}

async function untilReady(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The service prints nothing');
  const lines = createInterface(child.stdout);
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  const ready = new Promise<string>((resolveUrl, fail) => {
    lines.on('line', (line) => {
      const [, url] = /is ready at (\S+)/.exec(line) ?? [];
      if (url !== undefined) resolveUrl(url);
    });
    lines.once('close', () => fail(new Error('The service ended before it was ready')));
  });
  return ready.finally(() => clearTimeout(timer));
}

async function assertAnswers(url: URL | string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const { status } = await fetch(url, { headers });
  if (status !== 200) throw new Error(`${url} returned ${status}`);
}

const database = await openDatabase();
try {
  const secrets = makeSecrets();
  const settings = { ...secrets, DATABASE_URL: database.url, PORT: '0' };
  const made = (await hasEngine()) ? await buildImage(settings) : await followSteps(settings);
  await tryService(made, secrets);
  console.log(
    `The service of the Dockerfile does its work (${made.command === 'docker' ? 'image' : 'steps only: no container engine runs here'}).`,
  );
} finally {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
