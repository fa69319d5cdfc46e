import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTemporaryFolder } from './database.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A copy of the repository as a newcomer has it after `npm ci`, in a folder of its own. */
export interface Checkout {
  readonly folder: string;
  /** Runs `npm start` in it, and returns when the service is ready. */
  readonly start: () => Promise<void>;
  /** Ends the service, as Ctrl+C does. */
  readonly stop: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function createCheckout(): Promise<Checkout> {
  const parent = await createTemporaryFolder();
  const folder = join(parent, 'causeway');
  await copyRepository(folder);
  let service: ChildProcess | undefined;

  async function start() {
    service = await startByNpm({ cwd: folder, dataDir: join(folder, '.data') });
  }

  async function stop() {
    if (service !== undefined) await stopByNpm(service);
  }

  return { folder, start, stop, remove: () => rm(parent, { recursive: true, force: true }) };
}

/** The files that Git knows or would add, and a link to the installed packages in place of `npm ci`. */
async function copyRepository(folder: string): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', list, { cwd: ROOT, maxBuffer: 16_777_216 });
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));
  await Promise.all([...new Set(files.map(dirname))].map((each) => mkdir(join(folder, each), { recursive: true })));
  await Promise.all(files.map((file) => cp(join(ROOT, file), join(folder, file))));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Runs `npm start` on free ports, and returns when the service is ready. */
export async function startByNpm({ cwd, dataDir }: { cwd: string; dataDir: string }): Promise<ChildProcess> {
  const service = spawn('npm', ['start'], {
    cwd,
    // Node.js below npm has the same input, and ends with this process.
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--require ${join(ROOT, 'scripts/ends-with-starter.cjs')}`,
      NODE_ENV: '',
      DATA_DIR: dataDir,
      PORT: '0',
      SIMULATORS_PORT: '0',
    },
  });
  await untilReady(dataDir, service);
  return service;
}

/** Sends SIGTERM to npm, which passes the signal on and ends when the service has ended. */
export async function stopByNpm(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return;
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
}

async function untilReady(dataDir: string, service: ChildProcess): Promise<void> {
  const file = join(dataDir, 'credentials.json');
  while (!existsSync(file) || !(await isReady(file))) {
    if (service.exitCode !== null) throw new Error(`npm start ended with exit code ${service.exitCode}`);
    await sleep(100);
  }
}

/** The file has port 0 until the service listens, and the former port after a restart. */
async function isReady(file: string): Promise<boolean> {
  const { origin, port } = new URL(JSON.parse(readFileSync(file, 'utf8')).baseUrl);
  if (port === '0') return false;
  return fetch(`${origin}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The environment without variables of this run, and without the Node.js that npm puts in front of the machine's own. */
function newcomersEnvironment(): NodeJS.ProcessEnv {
  const known = Object.entries(process.env).filter(([name]) => !/^(?:npm_|TEST_|CONFORMANCE|NODE_)/.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  return { ...Object.fromEntries(known), PATH: path.join(delimiter) };
}

/** A terminal in which commands run one after another and keep their variables. */
export interface Terminal {
  /** Returns what the command prints. @throws Error if a line of it fails */
  readonly run: (command: string) => Promise<string>;
  /** Ends the shell and the programs that it left in the background. */
  readonly close: () => Promise<void>;
}

/** Ends all that runs in the terminal when the test closes its end of descriptor 3, or ends, even if it was killed. */
const GUARD = '(read -r _ <&3; kill -TERM 0) >/dev/null 2>&1 &';

export function openTerminal(folder: string): Terminal {
  const shell = spawn('bash', ['-c', `${GUARD} exec bash -eu 3<&-`], {
    cwd: folder,
    detached: true,
    env: newcomersEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const [, , , guard] = shell.stdio;
  const ended = once(shell, 'exit');
  let printed = '';
  let complaints = '';
  shell.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  shell.stderr.setEncoding('utf8').on('data', (text) => {
    complaints += text;
  });
  let count = 0;

  async function run(command: string) {
    count += 1;
    const end = `\n### end of command ${count} ###\n`;
    // A program in the foreground would otherwise read the commands that follow it.
    shell.stdin.write(`{\n${command}\n} < /dev/null\nprintf '${end.replaceAll('\n', '\\n')}'\n`);
    while (!printed.includes(end)) {
      if (shell.exitCode !== null) throw new Error(`This command failed:\n${command}\n${printed}\n${complaints}`);
      await sleep(20);
    }
    const [output = '', rest = ''] = printed.split(end);
    printed = rest;
    return output;
  }

  async function close() {
    guard?.destroy();
    await ended;
  }

  return { run, close };
}
