import type { Knex } from 'knex';
import { json } from '../../db/json.ts';
import { type Selection, selectPage } from '../../db/listing.ts';
import { columnsOf, type RowOf } from '../../db/row.ts';

export interface NotificationRow extends RowOf<'notification', 'id' | 'type' | 'created_at'> {
  /** Data as JSON. Only objects are inserted. */
  readonly data: Readonly<Record<string, unknown>>;
}

const COLUMNS = columnsOf('notification', ['id', 'type', 'data', 'created_at']);

/** An event of the platform's own, with the subscription that it goes to. */
interface OwnEvent
  extends RowOf<'delivery', 'account_id' | 'subscription_id' | 'event_id'>,
    RowOf<'event', 'created_at' | 'type' | 'payload'> {
  /** Record of the event as JSON, see `printRecord`. */
  readonly record: string | null;
  /** Requested state. A delivery to a deactivated subscription is stored as `queued`. */
  readonly state: 'waiting' | 'queued';
}

export function createNotificationStore(knex: Knex) {
  return {
    insert: async (via: Knex, accountId: number, type: string, data: object): Promise<void> => {
      await via('notification').insert({ account_id: accountId, type, data: json(via, data) });
    },

    insertEvent: async (via: Knex, event: OwnEvent): Promise<void> => {
      await via.raw(
        `with stored_event as (
           insert into event (account_id, id, created_at, type, payload, record)
           values (:accountId, :eventId, :createdAt, :type, :payload, :record)
           returning account_id, id, created_at, type
         ), target as (
           select account_id, id, case state when 'active' then cast(:state as text) else 'queued' end as state
           from subscription where account_id = :accountId and id = :subscriptionId for share
         )
         insert into delivery (account_id, subscription_id, event_id, event_at, type, state, due)
         select t.account_id, t.id, e.id, e.created_at, e.type, t.state, case t.state when 'waiting' then e.created_at end
         from target t, stored_event e`,
        { ...event },
      );
    },

    list: async (accountId: number, selection: Selection): Promise<NotificationRow[]> =>
      selectPage(knex('notification').where({ account_id: accountId }).select<NotificationRow[]>(COLUMNS), selection),
  };
}
