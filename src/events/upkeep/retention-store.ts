import type { Knex } from 'knex';

/** The unpartitioned tables that only grow, and which of their rows are done with before a time. */
const OLD_ROWS = {
  event_key: 'created_at < :before',
  notification: 'created_at < :before',
  event_owner: `heartbeat_at < :before and not exists (
    select from delivery where delivery.owner = event_owner.id and state = 'delivering')`,
} as const;

export type PurgedTable = keyof typeof OLD_ROWS;

/** Deletes one batch of what is older. Rows that another process deletes are left to it. @returns how many rows */
export async function purgeBatch(knex: Knex, table: PurgedTable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${OLD_ROWS[table]} limit :limit for update skip locked))`,
    { before, limit },
  );
  return rowCount;
}
