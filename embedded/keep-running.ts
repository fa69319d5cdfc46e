import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../src/log.ts';
import { type Postmaster, signalProcess, type startPostmaster } from './postmaster.ts';

/** A server of this process, and the connection whose lock marks this process as its owner. */
export interface OwnedServer {
  readonly server: Awaited<ReturnType<typeof startPostmaster>>;
  readonly owner: pg.Client;
}

export interface KeepRunningOptions {
  /** Starts the server again on the same files and port. */
  readonly start: () => Promise<OwnedServer>;
  /** Reconnects to the running server and takes the lock again. */
  readonly own: (server: OwnedServer['server']) => Promise<OwnedServer>;
  /** Returns whether no further attempt can succeed after this error. */
  readonly isFinal: (error: unknown) => boolean;
  /** Receives the error if the server has ended and cannot be restarted. */
  readonly onLost: (error: unknown) => void;
  /** Aborts when this process begins to stop. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const RETRY_MS = 250;
/**
 * Milliseconds after which a restart is given up. A server that crashed recovers first, and an orphan of a killed one holds its shared
 * memory for a moment.
 */
const GIVE_UP_MS = 60_000;
/** Maximum number of restarts, because a server that dies as soon as it runs would otherwise be restarted for ever. */
const MAX_REVIVALS = 5;
const REVIVAL_PERIOD_MS = 10 * 60_000;

/**
 * Keeps a server running until it is stopped, or its process begins to stop. It restarts a server that dies, and reports one that cannot be
 * restarted.
 */
export function keepRunning(first: OwnedServer, options: KeepRunningOptions) {
  const { start, own, isFinal, onLost, signal, log } = options;
  let current = first;
  let isReleased = false;
  let reviving: Promise<void> | undefined;
  let revivedAtMs: readonly number[] = [];

  /** Returns whether this process is stopping. The signal that stops it may stop the server as well, which is no crash. */
  const isStopping = () => isReleased || signal.aborted;

  function watch({ server, owner }: OwnedServer): void {
    owner.on('error', (error) =>
      log.debug({ err: error }, 'the embedded PostgreSQL ended the connection that owns it'),
    );
    owner.once('end', look);
    server.process.once('exit', look);
  }

  function look(): void {
    if (!isStopping()) reviving ??= revive().finally(() => (reviving = undefined));
  }

  async function revive(): Promise<void> {
    const sinceMs = Date.now();
    revivedAtMs = [...revivedAtMs.filter((atMs) => atMs > sinceMs - REVIVAL_PERIOD_MS), sinceMs];
    if (revivedAtMs.length > MAX_REVIVALS) return onLost(new Error('The embedded PostgreSQL keeps ending'));
    const { exitCode, signalCode } = current.server.process;
    log.error({ exitCode, signalCode }, 'the embedded PostgreSQL ended unexpectedly; starting it again');
    while (!isStopping()) {
      try {
        current = await (isRunning(current) ? own(current.server) : start());
        watch(current);
        log.warn({ pid: current.server.pid }, 'the embedded PostgreSQL runs again');
        return;
      } catch (error) {
        if (isStopping()) return;
        if (isFinal(error) || Date.now() > sinceMs + GIVE_UP_MS) return onLost(error);
        log.debug({ err: error }, 'could not start the embedded PostgreSQL; trying again');
        await delay(RETRY_MS);
      }
    }
  }

  // The last resort when the process ends without `stop`. The next start stops a server that is left nevertheless.
  const stopAtExit = () => void (isRunning(current) && signalProcess(current.server.pid, 'SIGINT'));
  process.once('exit', stopAtExit);
  watch(first);

  return {
    /** Ends the supervision and returns the server that runs now or ran last. */
    release: async (): Promise<Postmaster> => {
      isReleased = true;
      await reviving;
      process.off('exit', stopAtExit);
      return current.server;
    },
  };
}

function isRunning({ server: { process: server } }: OwnedServer): boolean {
  return server.exitCode === null && server.signalCode === null;
}
