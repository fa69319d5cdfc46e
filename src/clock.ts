/** The time of the process. All code of the service reads the time and waits by this interface, so that a test can control it. */
export interface Clock {
  /** Milliseconds since 1970, by which other machines count as well. It can be set back. */
  readonly now: () => number;
  /** Milliseconds since some moment, never decreasing, for measuring durations. */
  readonly steady: () => number;
  /**
   * Calls once, after that many milliseconds at the earliest.
   * @returns what ends the wait without a call; it does nothing after the call
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

/** @throws the reason of the signal as soon as it aborts */
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

/** Clocks of providers and ours differ by less. */
export const MOST_SKEW_MS = 15 * 60_000;
