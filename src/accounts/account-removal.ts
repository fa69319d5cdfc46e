import type { Removal } from '../db/removal.ts';
import type { Platform } from '../platform.ts';
import { createRemovalStore, type RemovedAccount } from './removal-store.ts';

/** Topic of the message that an account was deleted. */
export const REMOVAL_TOPIC = 'account-removal';

/** Removes a batch of a deleted account's data from one room. */
export type RemoveBatch = (accountId: number, signal: AbortSignal) => Promise<Removal>;

/** Platform parts that the removal of accounts needs. */
interface RemovalPlatform extends Pick<Platform, 'knex' | 'clock' | 'log'> {
  readonly notifier: Pick<Platform['notifier'], 'subscribe'>;
}

/** Longer than a batch. Then another process takes over from one that died. */
const LEASE_MS = 120_000;
/** The wait after a failure, or for deliveries. */
const AGAIN_MS = 300_000;
/** By then, work that was in progress when the account was deleted has ended, and its results are removed too. */
const SETTLED_MS = 3_600_000;

/**
 * Removes the data of deleted accounts in batches, part by part in a fixed order, so that data is removed before what it depends on. Each
 * account belongs to one process at a time; where one stops, another resumes.
 */
export function createAccountRemoval({ knex, notifier, clock, log }: RemovalPlatform, parts: readonly RemoveBatch[]) {
  const store = createRemovalStore(knex);
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let unsubscribe = () => {};
  const inMs = (ms: number) => new Date(clock.now() + ms);

  function track<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work);
    void work.finally(() => underWay.delete(work)).catch(() => {});
    return work;
  }

  /**
   * Removes the data of an account, room by room.
   * @returns false if the removal has to wait and continue later
   */
  async function removeAll(accountId: number, signal: AbortSignal): Promise<boolean> {
    for (const remove of parts) {
      let removal: Removal;
      do {
        signal.throwIfAborted();
        await store.setDue(accountId, inMs(LEASE_MS));
        removal = await remove(accountId, signal);
      } while (removal === 'more');
      if (removal === 'waits') return false;
    }
    return true;
  }

  async function work({ id, deletedAt }: RemovedAccount, signal: AbortSignal): Promise<void> {
    try {
      const isDone = await removeAll(id, signal);
      const settledAt = deletedAt.getTime() + SETTLED_MS;
      if (!isDone) await store.setDue(id, inMs(AGAIN_MS));
      else await store.setDue(id, settledAt > clock.now() ? new Date(settledAt) : null);
    } catch (error) {
      signal.throwIfAborted();
      log.error({ err: error, accountId: id }, 'could not remove the rest of a deleted account; trying again');
      await store.setDue(id, inMs(AGAIN_MS));
    }
  }

  async function keep(given: AbortSignal): Promise<number> {
    const signal = AbortSignal.any([given, stopping.signal]);
    for (let count = 0; ; count++) {
      if (signal.aborted) return count;
      const account = await store.claim(new Date(clock.now()), inMs(LEASE_MS));
      if (account === undefined) return count;
      await work(account, signal);
    }
  }

  async function keepNow(): Promise<void> {
    try {
      await keep(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted)
        log.warn({ err: error }, 'could not look for deleted accounts; trying again within a minute');
    }
  }

  return {
    /** Starts to listen for deletions, so that the removal of an account begins at once. */
    start: () => {
      unsubscribe = notifier.subscribe(REMOVAL_TOPIC, () => void track(keepNow()));
    },
    /** Starts no more batches. Resolves when those in progress have ended. */
    stop: async () => {
      unsubscribe();
      stopping.abort(new Error('The process stops.'));
      await Promise.allSettled(underWay);
    },
    /**
     * Removes the data that is due.
     * @returns number of accounts that were checked
     */
    keep: (signal: AbortSignal) => track(keep(signal)),
  };
}
