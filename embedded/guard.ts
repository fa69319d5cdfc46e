import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../src/log.ts';

/** Waits until the pipe from this process breaks, whatever signals arrive, and then requests a fast shutdown of the server. */
const SCRIPT = 'trap "" HUP INT QUIT TERM; read -r _; kill -INT "$1" 2>/dev/null';

/**
 * Stops the server if its owner ends without stopping it, because it was killed or out of memory. A small shell waits on a pipe that only
 * this process holds open. Windows has no such guard: there, the next start stops the server.
 */
export function guardServer(server: ChildProcess, log: Logger): void {
  if (process.platform === 'win32' || server.pid === undefined) return;
  const guard = spawn('sh', ['-c', SCRIPT, 'causeway-guard', String(server.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A signal to the group of this process must not end the guard.
    detached: true,
  });
  guard.on('error', (error) => log.warn({ err: error }, 'could not start the guard of the embedded PostgreSQL'));
  guard.unref();
  // The pipe is a socket of Node.js, which the type of a child's input does not include.
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  server.once('exit', () => guard.kill('SIGKILL'));
}
