import { createPool } from '../../events/fairness.ts';

/** Number of characters of its values above which an execution is heavy. */
export const HEAVY_CHARACTERS = 2 * 1024 * 1024;
/** Maximum number of heavy executions that run in this process. One account has one of them. */
const HEAVY_RUNS = 2;

/**
 * Waits until an execution of an account may be heavy. Returns a function that ends this.
 * @throws the reason of the signal
 */
export type EnterHeavy = (accountId: number, signal: AbortSignal) => Promise<() => void>;

interface Waiting {
  readonly accountId: number;
  readonly admit: () => void;
}

/** Lets few executions hold large values at a time, because the memory of the process belongs to all accounts. Others wait in their order. */
export function createHeavyRuns(): EnterHeavy {
  const pool = createPool(HEAVY_RUNS);
  let waiting: readonly Waiting[] = [];

  function admitNext(): void {
    waiting = waiting.filter(({ accountId, admit }) => {
      if (pool.room(accountId) <= 0) return true;
      pool.take(accountId);
      admit();
      return false;
    });
  }

  return async (accountId, signal) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const own: Waiting = { accountId, admit: resolve };
    const giveUp = () => {
      waiting = waiting.filter((other) => other !== own);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting = [...waiting, own];
    admitNext();
    await promise.finally(() => signal.removeEventListener('abort', giveUp));
    return () => {
      pool.give(accountId);
      admitNext();
    };
  };
}
