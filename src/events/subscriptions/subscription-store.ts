import type { Knex } from 'knex';
import { type Selection, selectPage } from '../../db/listing.ts';
import { nextId } from '../../db/next-id.ts';
import { removeRows } from '../../db/removal.ts';
import { columnsOf, type RowOf } from '../../db/row.ts';

/** A row of `subscription`, its secrets still encrypted. */
export type SubscriptionRow = RowOf<'subscription'>;

interface DeliveryTally extends RowOf<'delivery', 'subscription_id'> {
  readonly queued: number;
  readonly retrying: number;
}

type NewEndpointRow = Pick<SubscriptionRow, 'accountId' | 'id' | 'url' | 'secrets' | 'eventTypes' | 'maxPerSecond'>;

const COLUMNS = columnsOf('subscription', [
  'account_id',
  'id',
  'url',
  'state',
  'reason',
  'secrets',
  'event_types',
  'is_endpoint',
  'max_per_second',
  'deleted_at',
  'state_changed_at',
  'created_at',
  'updated_at',
]);

/** Maximum count of deliveries per subscription in a list, because a queue can be long and a list can have many. */
export const MOST_TALLIED = 10_000;

const TALLY = `
  with in_flight as (
    select subscription_id, count(*) as retrying from delivery
    where account_id = :accountId and state = 'delivering' and is_retry group by subscription_id
  )
  select s.id as "subscriptionId", queued.count as queued,
    least(waiting.count + coalesce(in_flight.retrying, 0), :most) as retrying
  from subscription s left join in_flight on in_flight.subscription_id = s.id,
    lateral (select count(*) from (select from delivery d
      where d.account_id = :accountId and d.subscription_id = s.id and d.state = 'queued' limit :most) d) queued,
    lateral (select count(*) from (select from delivery d
      where d.account_id = :accountId and d.subscription_id = s.id and d.state = 'waiting' and d.is_retry limit :most) d) waiting
  where s.account_id = :accountId and s.id = any(cast(:ids as bigint[]))`;

export function createSubscriptionStore(knex: Knex) {
  const select = (accountId: number) => knex('subscription').select(COLUMNS).where({ account_id: accountId });

  async function addRate({ accountId, id }: Pick<NewEndpointRow, 'accountId' | 'id'>): Promise<void> {
    const row = { account_id: accountId, subscription_id: id };
    await knex('endpoint_rate').insert(row).onConflict(['account_id', 'subscription_id']).ignore();
  }

  return {
    nextId: (): Promise<number> => nextId(knex, 'subscription'),

    /** Inserts a subscription. Returns false when one with this URL exists. */
    insert: async (row: Pick<SubscriptionRow, 'accountId' | 'id' | 'url' | 'secrets'>): Promise<boolean> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `insert into subscription (account_id, id, url, secrets) overriding system value
         values (?, ?, ?, ?) on conflict (account_id, url) where not is_endpoint do nothing`,
        [row.accountId, row.id, row.url, row.secrets],
      );
      return rowCount === 1;
    },

    /** Inserts the subscription of an endpoint. Its URL may have others. */
    insertEndpoint: async (row: NewEndpointRow): Promise<void> => {
      await knex.raw(
        `insert into subscription (account_id, id, url, secrets, event_types, max_per_second, is_endpoint) overriding system value
         values (?, ?, ?, ?, ?, ?, true)`,
        [row.accountId, row.id, row.url, row.secrets, [...row.eventTypes], row.maxPerSecond],
      );
      if (row.maxPerSecond !== null) await addRate(row);
    },

    /** Changes what the subscription of an endpoint has of it. Returns false when it no longer exists. */
    updateEndpoint: async ({ accountId, id, url, eventTypes, maxPerSecond }: Omit<NewEndpointRow, 'secrets'>) => {
      // Times that were reserved at another rate mean nothing.
      await knex.raw(
        `delete from endpoint_rate r using subscription s
         where r.account_id = :accountId and r.subscription_id = :id and s.account_id = :accountId and s.id = :id
           and s.max_per_second is distinct from cast(:maxPerSecond as double precision)`,
        { accountId, id, maxPerSecond },
      );
      const count = await knex('subscription')
        .where({ account_id: accountId, id, is_endpoint: true, deleted_at: null })
        .update({ url, event_types: eventTypes, max_per_second: maxPerSecond, updated_at: knex.fn.now() });
      if (count > 0 && maxPerSecond !== null) await addRate({ accountId, id });
      return count > 0;
    },

    find: async (accountId: number, id: number): Promise<SubscriptionRow | undefined> =>
      (await select(accountId).where({ id }))[0],

    findIdByUrl: async (accountId: number, url: string): Promise<number | undefined> =>
      (await knex('subscription').where({ account_id: accountId, url, is_endpoint: false }).first('id'))?.id,

    /** Lists subscriptions from old to new. */
    list: async (accountId: number, selection: Selection): Promise<SubscriptionRow[]> =>
      selectPage(select(accountId).whereNull('deleted_at'), selection),

    /** Counts queued and retried deliveries from indexes, up to `MOST_TALLIED`. */
    tally: async (accountId: number, ids: readonly number[]): Promise<DeliveryTally[]> => {
      const { rows } = await knex.raw<{ rows: DeliveryTally[] }>(TALLY, {
        accountId,
        ids: [...ids],
        most: MOST_TALLIED,
      });
      return rows;
    },

    /** Replaces the secrets. Returns false when they are no longer those in `before`. */
    replaceSecrets: async (
      { accountId, id }: Pick<SubscriptionRow, 'accountId' | 'id'>,
      { before, after }: { readonly before: string; readonly after: string },
    ): Promise<boolean> => {
      const count = await knex('subscription')
        .where({ account_id: accountId, id, secrets: before })
        .update({ secrets: after, updated_at: knex.fn.now() });
      return count > 0;
    },

    /** Sets the event types. Returns false when the subscription no longer exists. */
    setEventTypes: async (accountId: number, id: number, eventTypes: readonly string[]): Promise<boolean> => {
      const count = await knex('subscription')
        .where({ account_id: accountId, id, deleted_at: null })
        .update({ event_types: eventTypes, updated_at: knex.fn.now() });
      return count > 0;
    },

    /** Removes a subscription. It also deactivates it, so that deliveries stored later are queued and not sent. */
    remove: async (via: Knex, accountId: number, id: number): Promise<void> => {
      // Nothing is sent there any more, and nothing brings an endpoint back. A change of an endpoint locks both in this order, too.
      await via('endpoint').where({ account_id: accountId, subscription_id: id }).update({ secrets: null });
      await via('subscription').where({ account_id: accountId, id, deleted_at: null }).update({
        state: 'deactivated',
        reason: null,
        deleted_at: knex.fn.now(),
        updated_at: knex.fn.now(),
      });
    },

    /** Removes queued deliveries of a deleted account. */
    removeQueued: (accountId: number) => removeRows(knex, 'delivery', accountId, "state = 'queued'"),

    /**
     * Deletes the account's subscriptions, unless it has deliveries.
     * @returns the ids of the deleted subscriptions; undefined when there are deliveries
     */
    removeUnused: async (accountId: number): Promise<readonly number[] | undefined> => {
      const delivery = await knex('delivery').where({ account_id: accountId }).first('id');
      if (delivery !== undefined) return undefined;
      return (await knex('subscription').where({ account_id: accountId }).delete().returning('id')).map(({ id }) => id);
    },

    /** Restores a removed subscription as a new one. Of two concurrent calls the second one does nothing. */
    revive: async (row: Pick<SubscriptionRow, 'accountId' | 'id' | 'secrets'>): Promise<void> => {
      const { accountId, id, secrets } = row;
      await knex('subscription')
        .where({ account_id: accountId, id })
        .whereNotNull('deleted_at')
        .update({
          secrets,
          state: 'active',
          event_types: knex.raw('default'),
          deleted_at: null,
          state_changed_at: knex.fn.now(),
          created_at: knex.fn.now(),
          updated_at: knex.fn.now(),
        });
    },

    /** Deactivates a subscription. Returns false when it was not active. */
    deactivate: async (via: Knex, accountId: number, id: number, reason: string): Promise<boolean> => {
      const count = await via('subscription')
        .where({ account_id: accountId, id, state: 'active' })
        .update({ state: 'deactivated', reason, state_changed_at: knex.fn.now(), updated_at: knex.fn.now() });
      return count > 0;
    },

    /**
     * Reactivates deactivated subscriptions; `urls` and `id` restrict them.
     * @returns the reactivated subscriptions
     */
    reactivate: async (
      via: Knex,
      accountId: number,
      { urls, id }: { readonly urls?: readonly string[] | undefined; readonly id?: number | undefined },
    ): Promise<RowOf<'subscription', 'id' | 'url'>[]> => {
      // Locked in their order: accepting holds several of them as well, and two that wait for each other would wait for ever.
      const { rows } = await via.raw<{ rows: RowOf<'subscription', 'id' | 'url'>[] }>(
        `with chosen as materialized (
           select id from subscription
           where account_id = :accountId and state = 'deactivated' and deleted_at is null
             and (cast(:id as bigint) is null or id = :id)
             and (cast(:urls as text[]) is null or url = any(cast(:urls as text[])))
           order by id for no key update
         )
         update subscription s set state = 'active', reason = null, state_changed_at = now(), updated_at = now()
         from chosen c where s.account_id = :accountId and s.id = c.id
         returning s.id, s.url`,
        { accountId, id: id ?? null, urls: urls === undefined ? null : [...urls] },
      );
      return rows;
    },
  };
}
