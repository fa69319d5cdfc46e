/** The time of the process. All code of the service reads the time and waits by this interface, so that a test can control it. */
export interface Clock {
  /** Milliseconds since 1970, comparable with the clocks of other machines. The clock can be set back. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary moment, for measuring durations. They never decrease. */
  readonly steady: () => number;
  /**
   * Calls the function once, after at least this many milliseconds.
   * @returns a function that cancels the call; it has no effect after the call
   */
  readonly after: (ms: number, call: () => void) => EndWait;
}

export type EndWait = () => void;

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  steady: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Waits for this many milliseconds.
 * @throws the reason of the signal as soon as it aborts
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const giveUp = () => {
      endWait();
      reject(signal?.reason);
    };
    const endWait = clock.after(ms, () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

/** Maximum difference in milliseconds between the clocks of providers and ours. */
export const MOST_SKEW_MS = 15 * 60_000;
