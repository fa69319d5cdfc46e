export interface ConcurrencyOptions {
  /** At the start, and again after a failure. */
  readonly least: number;
  readonly most: number;
  /** A success that took longer does not ask for more of them at a time. */
  readonly quickMs: number;
}

/** How many pushes one receiver gets at a time. */
export interface Concurrency {
  readonly limit: () => number;
  /** `wasFull`: it was one of as many as were allowed. Fewer prove nothing about more. */
  readonly succeed: (durationMs: number, wasFull: boolean) => void;
  readonly fail: () => void;
}

/**
 * Grows by one with each round of quick successes under full use, as long as the receiver keeps up; shrinks by one with each slow success, so
 * that waiting for a receiver that has enough to do takes few places; falls back at once when a push fails.
 */
export function createConcurrency({ least, most, quickMs }: ConcurrencyOptions): Concurrency {
  const top = Math.max(least, most);
  let limit = least;
  let quick = 0;

  function change(by: 1 | -1): void {
    limit = Math.min(top, Math.max(least, limit + by));
    quick = 0;
  }

  return {
    limit: () => limit,
    succeed: (durationMs, wasFull) => {
      if (durationMs > quickMs) return change(-1);
      if (!wasFull) return;
      quick++;
      if (quick >= limit) change(1);
    },
    fail: () => {
      limit = least;
      quick = 0;
    },
  };
}
