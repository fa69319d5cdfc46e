import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = join(import.meta.dirname, '../src/main.js');
const POLL_MS = 50;
const MOST_POLLS = 600;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The program while it runs. */
export interface Running {
  /** Waits for something on the standard error. @returns what matched */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly interrupt: () => void;
  readonly ended: Promise<Ended>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `causeway` as a user does, in a process of its own. */
export function start(args: readonly string[], environment: Environment, cwd?: string): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err += part;
  });
  return {
    says: (pattern) => matchIn(() => err, pattern, child),
    interrupt: () => child.kill('SIGINT'),
    ended: Promise.all([once(child, 'close'), text(child.stdout)]).then(([[code], out]) => ({ code, out, err })),
  };
}

async function matchIn(said: () => string, pattern: RegExp, child: ChildProcess): Promise<RegExpExecArray> {
  for (let polls = 0; polls < MOST_POLLS && child.exitCode === null; polls++) {
    const match = pattern.exec(said());
    if (match !== null) return match;
    await sleep(POLL_MS);
  }
  throw new Error(`It did not say ${pattern}, but: ${said()}`);
}
