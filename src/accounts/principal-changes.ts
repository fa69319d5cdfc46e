import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type ChangeNote, change } from '../db/change.ts';
import type { Platform } from '../platform.ts';

/** What is known of callers in memory, and when it is out of date. */
export interface PrincipalChanges {
  /**
   * A transaction (`db/change.ts`) after which callers of the organization may do something else than before. It ends when every process
   * has been told.
   */
  readonly change: <Result>(
    organizationId: number,
    work: (via: Knex.Transaction) => Promise<Result>,
    note?: (result: Result) => ChangeNote,
  ) => Promise<Result>;
  /** A moment to compare with later changes: taken before something is read. */
  readonly moment: () => number;
  /** Whether something of the organization has changed since. */
  readonly isOutdated: (organizationId: number, moment: number) => boolean;
  /** `handler` is called when anything has changed anywhere, or may have. */
  readonly subscribe: (handler: (organizationId: number | undefined) => void) => void;
}

const TOPIC = 'principals';
/** Longer than anything about a caller is kept. */
const KEEP_MS = 120_000;
const MAX_ORGANIZATIONS = 100_000;

export function createPrincipalChanges({
  knex,
  notifier,
  clock,
}: Pick<Platform, 'knex' | 'notifier' | 'clock'>): PrincipalChanges {
  const changedAt = new LRUCache<number, number>({
    ...atMost(MAX_ORGANIZATIONS),
    ttl: KEEP_MS,
    perf: { now: clock.steady },
  });
  const handlers: ((organizationId: number | undefined) => void)[] = [];
  let now = 0;
  let allChangedAt = 0;

  function note(organizationId: number): void {
    now += 1;
    changedAt.set(organizationId, now);
    for (const handler of handlers) handler(organizationId);
  }

  notifier.subscribe(TOPIC, (message) => {
    note(Number(message));
  });
  notifier.onGap(() => {
    now += 1;
    allChangedAt = now;
    for (const handler of handlers) handler(undefined);
  });

  return {
    change: async (organizationId, work, describe) => {
      const announced = async (via: Knex.Transaction) => {
        const done = await work(via);
        await notifier.publish(TOPIC, String(organizationId), via);
        return done;
      };
      const result = await change(knex, announced, describe);
      note(organizationId);
      await notifier.settle();
      return result;
    },
    moment: () => now,
    isOutdated: (organizationId, moment) => allChangedAt > moment || (changedAt.get(organizationId) ?? 0) > moment,
    subscribe: (handler) => void handlers.push(handler),
  };
}
