const callbacksBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts, until the answered function is called. However many calls share a signal, it has one listener: to add one to an
 * event target takes longer for each that is there.
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
