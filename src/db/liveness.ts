import type { Clock, EndWait } from '../clock.ts';
import type { Logger } from '../log.ts';

interface LivenessPorts {
  /** Returns whether a round trip succeeds on a connection of the pool that all statements use. */
  readonly works: (signal: AbortSignal) => Promise<boolean>;
  /** Returns whether a round trip succeeds on a new connection, which shows whether the database can be reached at all. */
  readonly couldWork: (signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Liveness {
  /** Returns whether nothing has worked in this process for a while although the database responds to others. */
  readonly isStuck: () => boolean;
  readonly stop: () => Promise<void>;
}

const LOOK_MS = 10_000;
/** Longer than a connection is waited for. */
const WORKS_TIMEOUT_MS = 15_000;
const COULD_TIMEOUT_MS = 5_000;
/** Twice the limit of a statement. A process that is only busy gets a turn before. */
const STUCK_MS = 120_000;

/**
 * Distinguishes a process that is stuck from one whose database is down. Restarting the first helps. Restarting the second does not, and
 * would drop its data in memory.
 */
export function watchLiveness({ works, couldWork, clock, log }: LivenessPorts): Liveness {
  let stuckSinceMs: number | undefined;
  let looking: Promise<void> | undefined;
  let endWait: EndWait | undefined;

  async function look(): Promise<void> {
    const startedAtMs = clock.steady();
    if (await works(AbortSignal.timeout(WORKS_TIMEOUT_MS))) stuckSinceMs = undefined;
    else if (await couldWork(AbortSignal.timeout(COULD_TIMEOUT_MS))) stuckSinceMs ??= startedAtMs;
    else stuckSinceMs = undefined;
  }

  function lookLater(): void {
    endWait = clock.after(LOOK_MS, () => {
      lookLater();
      looking ??= look()
        .catch((error: unknown) => log.error({ err: error }, 'could not check whether this process is stuck'))
        .finally(() => {
          looking = undefined;
        });
    });
  }

  lookLater();
  return {
    isStuck: () => stuckSinceMs !== undefined && clock.steady() - stuckSinceMs >= STUCK_MS,
    stop: async () => {
      endWait?.();
      await looking;
    },
  };
}
