import type { Knex } from 'knex';

interface Waiting {
  readonly accountId: number;
  readonly subscriptionId: number;
}

/**
 * Queues up to `limit` of the deliveries that wait for their next attempt at a subscription that is not active; those in flight are queued
 * with their outcome, by the engine. To be called until it returns 0; whatever a crash leaves is queued by the engine
 * when it is due.
 *
 * The subscription is held in its state until the commit, so that whoever reactivates it finds what was queued here.
 * @returns how many
 */
export async function queueWaiting(knex: Knex, { accountId, subscriptionId }: Waiting, limit: number): Promise<number> {
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `with asleep as materialized (
       select account_id, id from subscription
       where account_id = :accountId and id = :subscriptionId and state <> 'active' for share
     ),
     chosen as materialized (
       select d.account_id, d.id from asleep a
       join delivery d on d.account_id = a.account_id and d.subscription_id = a.id
       where d.subscription_id = :subscriptionId and d.state = 'waiting'
       limit :limit for update of d
     )
     update delivery d set state = 'queued', due = null, updated_at = now()
     from chosen c where d.account_id = c.account_id and d.id = c.id`,
    { accountId, subscriptionId, limit },
  );
  return rowCount;
}
