import type { Knex } from 'knex';

/** What of an account's queue is meant; all of it unless narrowed. */
export interface QueueTarget {
  readonly urls?: readonly string[] | undefined;
  readonly subscriptionId?: number | undefined;
}

export interface QueuePart {
  readonly subscriptionId: number;
  /** The newest queued delivery of the subscription. */
  readonly newestId: number;
}

export function createReleaseStore(knex: Knex) {
  return {
    /** The subscriptions that have queued deliveries. */
    findQueued: async (accountId: number, { urls, subscriptionId }: QueueTarget): Promise<QueuePart[]> => {
      const { rows } = await knex.raw(
        `select d.subscription_id as "subscriptionId", max(d.id) as "newestId" from delivery d
         where d.account_id = :accountId and d.state = 'queued'
           and (cast(:subscriptionId as bigint) is null or d.subscription_id = :subscriptionId)
           and (cast(:urls as text[]) is null or d.subscription_id in
             (select s.id from subscription s where s.account_id = :accountId and s.url = any(cast(:urls as text[]))))
         group by d.subscription_id order by d.subscription_id`,
        { accountId, subscriptionId: subscriptionId ?? null, urls: urls === undefined ? null : [...urls] },
      );
      return rows;
    },

    /** Puts the oldest queued ones, at most `limit`, up for delivery with a fresh schedule. @returns how many */
    release: async (
      accountId: number,
      { subscriptionId, newestId }: QueuePart,
      { limit, now }: { readonly limit: number; readonly now: Date },
    ): Promise<number> => {
      const { rowCount } = await knex.raw(
        `with chosen as materialized (
           select account_id, id from delivery
           where account_id = :accountId and subscription_id = :subscriptionId and state = 'queued' and id <= :newestId
           order by id limit :limit for update
         )
         update delivery d set state = 'waiting', due = :now, retries = 0, first_failed_at = null, updated_at = now()
         from chosen c where d.account_id = c.account_id and d.id = c.id`,
        { accountId, subscriptionId, newestId, limit, now },
      );
      return rowCount;
    },

    /** Deletes the oldest queued ones, at most `limit`. @returns how many */
    acknowledge: async (accountId: number, { subscriptionId, newestId }: QueuePart, limit: number): Promise<number> => {
      const { rowCount } = await knex.raw(
        `with chosen as materialized (
           select account_id, id from delivery
           where account_id = :accountId and subscription_id = :subscriptionId and state = 'queued' and id <= :newestId
           order by id limit :limit for update
         )
         delete from delivery d using chosen c where d.account_id = c.account_id and d.id = c.id`,
        { accountId, subscriptionId, newestId, limit },
      );
      return rowCount;
    },

    /** False when it is not queued, or not there. */
    acknowledgeOne: async (accountId: number, id: number): Promise<boolean> =>
      (await knex('delivery').where({ account_id: accountId, id, state: 'queued' }).delete()) > 0,
  };
}
