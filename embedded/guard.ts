import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from '../src/log.ts';

/** Waits until the pipe from this process breaks, whatever signals arrive, and then requests a fast shutdown of the server. */
const SCRIPT = 'trap "" HUP INT QUIT TERM; read -r _; kill -INT "$1" 2>/dev/null';

/**
 * Stops a server whose owner ends without stopping it, killed or out of memory: a small shell that waits on a pipe which only this process
 * holds open. Not on Windows, where the next start stops such a server.
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
  // A pipe is a socket to Node, which the type of a child's input does not say.
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  server.once('exit', () => guard.kill('SIGKILL'));
}
