import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type ChangeNote, changeInTurn } from '../db/change.ts';
import type { Platform } from '../platform.ts';

/** Times of the last changes of callers, which show whether cached data about them is outdated. */
export type PrincipalChanges = ReturnType<typeof createPrincipalChanges>;

const TOPIC = 'principals';
/** Longer than anything about a caller is kept. */
const KEEP_MS = 120_000;
const MAX_ORGANIZATIONS = 100_000;

export function createPrincipalChanges({ knex, notifier, clock }: Pick<Platform, 'knex' | 'notifier' | 'clock'>) {
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
    /**
     * Runs a transaction (`db/change.ts`) that changes what callers of the organization may do. It ends when every process was notified.
     */
    change: async <Result>(
      organizationId: number,
      work: (via: Knex.Transaction) => Promise<Result>,
      describe?: (result: Result) => ChangeNote,
    ) => {
      const announced = async (via: Knex.Transaction) => {
        const done = await work(via);
        await notifier.publish(TOPIC, String(organizationId), via);
        return done;
      };
      const result = await changeInTurn(knex, announced, describe);
      note(organizationId);
      await notifier.settle();
      return result;
    },
    /** Returns a moment to compare with later changes. Take it before you read the data. */
    moment: () => now,
    /** Returns whether anything of the organization has changed since the moment. */
    isOutdated: (organizationId: number, moment: number) =>
      allChangedAt > moment || (changedAt.get(organizationId) ?? 0) > moment,
    /** Calls the handler when something of an organization has changed. Without an organization, anything may have changed. */
    subscribe: (handler: (organizationId: number | undefined) => void) => void handlers.push(handler),
  };
}
