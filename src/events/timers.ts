import type { Clock, EndWait } from '../clock.ts';
import { inBackground } from '../trace.ts';

/** Maximum delay of a timer. A longer one would end at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Creates an alarm that combines several waits: it calls once, at the earliest of their times. */
export function createAlarm(clock: Clock, call: () => void) {
  let ringsAtMs = Number.POSITIVE_INFINITY;
  let endWait: EndWait | undefined;

  function ring(): void {
    ringsAtMs = Number.POSITIVE_INFINITY;
    // It does not belong to the request that happened to start it.
    inBackground(call);
  }

  return {
    ringIn: (ms: number): void => {
      const atMs = clock.steady() + Math.max(0, ms);
      if (atMs >= ringsAtMs) return;
      endWait?.();
      ringsAtMs = atMs;
      endWait = clock.after(Math.min(Math.ceil(Math.max(0, ms)), LONGEST_WAIT_MS), ring);
    },
    end: (): void => {
      ringsAtMs = Number.NEGATIVE_INFINITY;
      endWait?.();
    },
  };
}

/**
 * Runs a task after an interval, and again after each end. `task` must not reject.
 * @returns a function that ends it, and resolves when the task no longer runs
 */
export function every(clock: Clock, ms: number, task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let hasEnded = false;
  let endWait: EndWait | undefined;

  function plan(): void {
    if (hasEnded) return;
    endWait = clock.after(ms, () => {
      running = task();
      void running.then(plan);
    });
  }

  plan();
  return async () => {
    hasEnded = true;
    endWait?.();
    await running;
  };
}
