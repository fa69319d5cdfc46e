import type { Clock, EndWait } from '../clock.ts';
import type { Logger } from '../log.ts';

export interface LivenessPorts {
  /** A round trip on a connection of the pool that everything here works with. */
  readonly works: (signal: AbortSignal) => Promise<boolean>;
  /** The same on a connection made for it: whether the database can be reached at all. */
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
/** Twice what a statement may take: a process that only has much to do gets a turn before. */
const STUCK_MS = 120_000;

/**
 * Tells a process that is stuck from one whose database is away. To start the first again helps; to start the second
 * again does not, and would drop what it holds in memory.
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
