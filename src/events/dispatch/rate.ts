import type { ReservedTimes } from './rate-store.ts';

/**
 * How long a reserved time can be used, in milliseconds. Timers are not exact, and without it a high rate would not be reached. The documentation
 * names it.
 */
const USABLE_MS = 100;
/** Milliseconds of pushes that are reserved at once. Other processes wait behind them, even if they are not used. */
const RESERVED_MS = 500;

/** The times of one lane at which it may push. */
export type Rate = ReturnType<typeof createRate>;

/** Creates the times of a lane. Times are milliseconds since 1970. */
export function createRate() {
  let nextMs = 0;
  let spacingMs = 0;
  let left = 0;

  function dropMissed(nowMs: number): void {
    if (left === 0) return;
    const missed = Math.ceil((nowMs - USABLE_MS - nextMs) / spacingMs);
    if (missed <= 0) return;
    left = Math.max(0, left - missed);
    nextMs += missed * spacingMs;
  }

  return {
    /** Returns the first time that is left; undefined if there is none. It is now or in the past if the lane may push. */
    nextAtMs: (nowMs: number): number | undefined => {
      dropMissed(nowMs);
      return left === 0 ? undefined : nextMs;
    },
    /** Uses up the first time. */
    spend: (): void => {
      left--;
      nextMs += spacingMs;
    },
    /** Replaces the times by those that were reserved. */
    set: (times: Pick<ReservedTimes, 'count' | 'delayMs' | 'spacingMs'>, nowMs: number): void => {
      nextMs = nowMs + Math.max(0, times.delayMs);
      ({ spacingMs, count: left } = times);
    },
  };
}

/** Returns how many times to reserve for this many deliveries. */
export function reservedCount(waiting: number, maxPerSecond: number): number {
  return Math.max(1, Math.min(waiting, Math.floor((maxPerSecond * RESERVED_MS) / 1000)));
}
