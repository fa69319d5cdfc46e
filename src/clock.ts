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

const callbacksBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts, until the returned function is called. The signal has only one listener, however many calls share it,
 * because adding a listener to an event target takes longer with each existing one.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksBySignal.get(signal) ?? new Set();
  callbacksBySignal.set(signal, callbacks);
  if (callbacks.size === 0) signal.addEventListener('abort', callAll, { once: true });
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) signal.removeEventListener('abort', callAll);
  };
}

function callAll(this: AbortSignal): void {
  for (const callback of [...(callbacksBySignal.get(this) ?? [])]) callback();
}

/**
 * Returns the result of the work, unless the signal aborts first. The work itself continues.
 * @throws the reason of the signal
 */
export function untilAborted<Result>(work: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const ignoreAbort = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).then(ignoreAbort);
  });
}

/** Maximum difference in milliseconds between the clocks of providers and ours. */
export const MOST_SKEW_MS = 15 * 60_000;
