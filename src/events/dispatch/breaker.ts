export interface BreakerOptions {
  /** Number of consecutive failures of any kind that open the breaker. */
  readonly failures: number;
  /** Number of failures that held a connection for long, or never got one. */
  readonly hardFailures: number;
  /** Milliseconds for which first attempts are parked at the beginning. The time doubles with each opening, up to `longestParkMs`. */
  readonly shortestParkMs: number;
  readonly longestParkMs: number;
}

/**
 * State of a breaker. `closed`: all attempts pass. `open`: only retries of the schedule pass. `probing`: one first attempt at a time
 * passes, too.
 */
export type BreakerState = 'closed' | 'open' | 'probing';

export type Breaker = ReturnType<typeof createBreaker>;

/**
 * Creates a breaker that holds back first attempts to a receiver that does not respond. It uses up no attempts and deactivates nothing; it
 * only decides when a first attempt is worth a connection.
 */
export function createBreaker(options: BreakerOptions) {
  let failures = 0;
  let hardFailures = 0;
  let openings = 0;
  let untilMs = 0;

  function shouldOpen(): boolean {
    return failures >= options.failures || hardFailures >= options.hardFailures;
  }

  return {
    state: (nowMs: number) => {
      if (openings === 0) return 'closed';
      return nowMs < untilMs ? 'open' : 'probing';
    },
    /** Returns the time from which first attempts pass again. It is in the past unless the breaker is open. */
    openUntilMs: () => untilMs,
    /** Returns true when this failure opened the breaker, or opened it again. */
    fail: (nowMs: number, hard: boolean) => {
      failures++;
      hardFailures = hard ? hardFailures + 1 : 0;
      // Those that were in flight when it opened do not lengthen the pause.
      if (!shouldOpen() || nowMs < untilMs) return false;
      untilMs = nowMs + Math.min(options.shortestParkMs * 2 ** openings, options.longestParkMs);
      openings = Math.min(openings + 1, 30);
      return true;
    },
    /** Returns true when this success closed the breaker. */
    succeed: () => {
      const wasOpen = openings > 0;
      failures = 0;
      hardFailures = 0;
      openings = 0;
      untilMs = 0;
      return wasOpen;
    },
    /** Whether nothing has failed since the last success, so that the breaker can be forgotten. */
    isClean: () => failures === 0,
  };
}
