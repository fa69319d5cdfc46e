import { type Clock, SYSTEM_CLOCK } from '../clock.ts';

/** Limits how much work runs at the same time. Further work waits in a queue. */
interface Semaphore {
  /**
   * Waits for a slot, then runs the work.
   * @throws the error of `refuse` when the queue is full or the wait takes too long
   */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Whether nothing runs or waits. */
  readonly isIdle: () => boolean;
}

interface SemaphoreOptions {
  readonly atOnce: number;
  /** Maximum number of waiting calls. Default: unlimited. */
  readonly mostWaiting?: number;
  /** Maximum wait in milliseconds. Default: unlimited. */
  readonly waitMs?: number;
  readonly refuse: () => Error;
  readonly clock?: Clock;
}

export function createSemaphore({
  atOnce,
  mostWaiting,
  waitMs,
  refuse,
  clock = SYSTEM_CLOCK,
}: SemaphoreOptions): Semaphore {
  const line = new Set<() => void>();
  let running = 0;

  async function waitInLine(): Promise<void> {
    if (mostWaiting !== undefined && line.size >= mostWaiting) throw refuse();
    const turn = Promise.withResolvers<void>();
    line.add(turn.resolve);
    const giveUp = () => void (line.delete(turn.resolve) && turn.reject(refuse()));
    const endWait = waitMs === undefined ? undefined : clock.after(waitMs, giveUp);
    try {
      await turn.promise;
    } finally {
      endWait?.();
    }
  }

  /** Passes the slot to the first in the queue, so that no later caller can take it. */
  function handOver(): void {
    const [first] = line;
    if (first === undefined) {
      running--;
      return;
    }
    line.delete(first);
    first();
  }

  return {
    run: async (work) => {
      if (running < atOnce) running++;
      else await waitInLine();
      try {
        return await work();
      } finally {
        handOver();
      }
    },
    isIdle: () => running === 0,
  };
}

interface KeyedSemaphore {
  readonly run: <Result>(key: string | number, work: () => Promise<Result>) => Promise<Result>;
}

/** Creates a semaphore per key. Each exists as long as work runs or waits. */
export function createKeyedSemaphore(options: SemaphoreOptions): KeyedSemaphore {
  const lines = new Map<string | number, Semaphore>();
  return {
    run: async (key, work) => {
      const semaphore = lines.get(key) ?? createSemaphore(options);
      lines.set(key, semaphore);
      try {
        return await semaphore.run(work);
      } finally {
        if (semaphore.isIdle()) lines.delete(key);
      }
    },
  };
}
