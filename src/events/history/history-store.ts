import type { Knex } from 'knex';
import type { RowOf } from '../../db/row.ts';
import type { Sql } from '../../where/index.ts';
import type { EventRecord } from '../model.ts';

export interface StoredEvent extends RowOf<'event', 'id' | 'created_at' | 'payload'> {
  readonly record: EventRecord | null;
}

interface EventSelection {
  readonly condition?: Sql | undefined;
  /** Restricts the list to ids below this one. The list goes from new to old. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Maximum size of a page. It ends before the event that would exceed it. */
  readonly maxBytes: number;
}

export function createHistoryStore(knex: Knex) {
  return {
    /** Ids ascend with time, so that an index has them in this order. Of a long text PostgreSQL knows the length without reading it. */
    list: async (
      { accountId, id }: { readonly accountId: number; readonly id: number },
      { condition, before, limit, maxBytes }: EventSelection,
    ): Promise<StoredEvent[]> => {
      const { rows } = await knex.raw<{ rows: StoredEvent[] }>(
        `select id, created_at as "createdAt", payload, record from (
           select *, sum(octet_length(payload)) over (order by id desc) - octet_length(payload) as ahead from (
             select id, created_at, payload, record from event
             where account_id = ? and instance_id = ?
               ${before === undefined ? '' : 'and id < ?'} ${condition === undefined ? '' : `and (${condition.sql})`}
             order by id desc limit ?
           ) page
         ) sized where ahead < ? order by id desc`,
        [
          accountId,
          id,
          ...(before === undefined ? [] : [before]),
          ...(condition?.bindings.map((binding) => (typeof binding === 'string' ? binding : [...binding])) ?? []),
          limit,
          maxBytes,
        ],
      );
      return rows;
    },
  };
}
