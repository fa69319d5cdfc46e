import type { Knex } from 'knex';
import { orderedJson } from '../../db/json.ts';
import { columnsOf, type RowOf } from '../../db/row.ts';
import type { EndpointChoice } from './endpoint.ts';

/** A row of `endpoint`, its secrets still encrypted. */
export interface EndpointRow extends Omit<RowOf<'endpoint'>, 'choice'> {
  readonly choice: EndpointChoice;
}

/** An endpoint as the acceptance of events needs it. */
export interface WishRow
  extends Pick<EndpointRow, 'choice'>,
    RowOf<'subscription', 'id' | 'url' | 'event_types' | 'max_per_second'> {}

/** An endpoint with the columns of its subscription. */
type WholeRow = EndpointRow & Omit<WishRow, 'id' | 'choice'>;

const COLUMNS = columnsOf('endpoint', ['account_id', 'subscription_id', 'name', 'choice', 'secrets']);

export function createEndpointStore(knex: Knex) {
  return {
    insert: async ({ choice, ...row }: EndpointRow): Promise<void> => {
      await knex('endpoint').insert({
        account_id: row.accountId,
        subscription_id: row.subscriptionId,
        name: row.name,
        choice: orderedJson(knex, choice),
        secrets: row.secrets,
      });
    },

    update: async ({ accountId, subscriptionId, name, choice, secrets }: EndpointRow): Promise<void> => {
      await knex('endpoint')
        .where({ account_id: accountId, subscription_id: subscriptionId })
        .update({ name, choice: orderedJson(knex, choice), secrets });
    },

    find: async (accountId: number, subscriptionId: number): Promise<EndpointRow | undefined> => {
      const row = await knex('endpoint')
        .select(COLUMNS)
        .where({ account_id: accountId, subscription_id: subscriptionId })
        .first();
      // The service wrote it.
      return row === undefined ? undefined : { ...row, choice: row.choice as EndpointChoice };
    },

    /**
     * Locks an endpoint: others can change it only after the transaction. Read it afterwards. A lock as part of the reading statement would
     * return the subscription as it was before the wait for the lock.
     */
    lock: async (accountId: number, id: number): Promise<void> => {
      await knex('endpoint').select('account_id').where({ account_id: accountId, subscription_id: id }).forUpdate();
    },

    /** Returns an endpoint with what its subscription has of it. */
    findWhole: async (accountId: number, id: number): Promise<WholeRow | undefined> => {
      const { rows } = await knex.raw<{ rows: WholeRow[] }>(
        `select s.url, s.event_types as "eventTypes", s.max_per_second as "maxPerSecond", e.name, e.choice, e.secrets,
           e.account_id as "accountId", e.subscription_id as "subscriptionId"
         from endpoint e join subscription s on s.account_id = e.account_id and s.id = e.subscription_id
         where e.account_id = ? and e.subscription_id = ? and s.deleted_at is null`,
        [accountId, id],
      );
      return rows[0];
    },

    list: async (accountId: number, ids: readonly number[]): Promise<readonly EndpointRow[]> => {
      const rows = await knex('endpoint')
        .select(COLUMNS)
        .where({ account_id: accountId })
        .whereIn('subscription_id', [...ids]);
      return rows.map((row) => ({ ...row, choice: row.choice as EndpointChoice }));
    },

    /** Returns what the endpoints of an account want, the oldest first. */
    wishes: async (accountId: number): Promise<readonly WishRow[]> => {
      const { rows } = await knex.raw<{ rows: WishRow[] }>(
        `select s.id, s.url, s.event_types as "eventTypes", s.max_per_second as "maxPerSecond", e.choice
         from endpoint e join subscription s on s.account_id = e.account_id and s.id = e.subscription_id
         where e.account_id = ? and s.deleted_at is null order by s.id`,
        [accountId],
      );
      return rows;
    },

    /** Locks the account until the commit, so that two requests cannot both make its last endpoint. @returns the number of its endpoints */
    countLocked: async (accountId: number): Promise<number> => {
      await knex('account').select('id').where({ id: accountId }).forNoKeyUpdate();
      const { rows } = await knex.raw<{ rows: { readonly count: number }[] }>(
        `select count(*) as count from subscription where account_id = ? and is_endpoint and deleted_at is null`,
        [accountId],
      );
      return rows[0]?.count ?? 0;
    },

    /** Returns the organization of an account. */
    organizationId: async (accountId: number): Promise<number> =>
      (await knex('account').where({ id: accountId }).first({ id: 'organization_id' }))?.id ?? 0,
  };
}
