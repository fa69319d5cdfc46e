import { getEventListeners } from 'node:events';

interface Callbacks {
  readonly set: Set<() => void>;
  /** Called by a `WorkSignal`: the signal needs no listener for them. */
  readonly isOfWork: boolean;
  isOver: boolean;
}

const callbacksBySignal = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls back when the signal aborts, until the returned function is called. The signal has only one listener, however many calls share it,
 * because adding a listener to an event target takes longer with each existing one.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksBySignal.get(signal) ?? { set: new Set(), isOfWork: false, isOver: false };
  callbacksBySignal.set(signal, callbacks);
  const { set, isOfWork, isOver } = callbacks;
  // Whatever begins after the end is for nobody.
  if (isOver) queueMicrotask(callback);
  if (set.size === 0 && !isOfWork) signal.addEventListener('abort', callAll, { once: true });
  set.add(callback);
  return () => {
    if (set.delete(callback) && set.size === 0 && !isOfWork) signal.removeEventListener('abort', callAll);
  };
}

function callAll(this: AbortSignal): void {
  for (const callback of [...(callbacksBySignal.get(this)?.set ?? [])]) callback();
}

/** The end of a work, as a signal. */
export interface WorkSignal {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /**
   * The work is done: calls back those of `onAbort`. Aborts only where others listen too, because that makes an event, which takes longer than
   * the rest of the end of a request.
   */
  readonly end: (reason: unknown) => void;
}

export function createWorkSignal(): WorkSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const callbacks: Callbacks = { set: new Set(), isOfWork: true, isOver: false };
  callbacksBySignal.set(signal, callbacks);
  const callBack = () => {
    callbacks.isOver = true;
    for (const callback of [...callbacks.set]) callback();
  };
  const abort = (reason: unknown) => {
    if (signal.aborted) return;
    controller.abort(reason);
    callBack();
  };
  return {
    signal,
    abort,
    end: (reason) => {
      if (getEventListeners(signal, 'abort').length > 0) abort(reason);
      else callBack();
    },
  };
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
