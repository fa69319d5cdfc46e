import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MAIN = join(import.meta.dirname, '../src/main.js');
const POLL_MS = 50;
const MOST_POLLS = 600;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The running program. */
export interface Running {
  /** Waits for a text on the standard output or the standard error. @returns the match */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly interrupt: () => void;
  readonly ended: Promise<Ended>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `causeway` in a process of its own, as a user does. */
export function start(args: readonly string[], environment: Environment, cwd?: string): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err += part;
  });
  return {
    says: (pattern) => matchIn(() => `${out}\n${err}`, pattern, child),
    interrupt: () => child.kill('SIGINT'),
    ended: once(child, 'close').then(([code]) => ({ code, out, err })),
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
