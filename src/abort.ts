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
