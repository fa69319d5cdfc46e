import type { Knex } from 'knex';
import { isDistributed } from '../../db/distributed.ts';

/** Returns the days before `day` that have events to deliver. */
export async function listDaysToKeep(knex: Knex, day: string): Promise<string[]> {
  const { rows } = await knex.raw<{ rows: { day: string }[] }>(
    `select distinct (event_at at time zone 'UTC')::date as day from delivery where event_at < ?::timestamptz`,
    [`${day}T00:00:00Z`],
  );
  return rows.map((row) => row.day);
}

/** The unpartitioned tables that only grow, and which of their rows are done with before a time. */
const OLD_ROWS = {
  event_key: 'created_at < :before',
  notification: 'created_at < :before',
  event_owner: `heartbeat_at < :before and not exists (
    select from delivery where delivery.owner = event_owner.id and state = 'delivering')`,
  // An event that was accepted while its endpoint was removed. Nobody can release it, and it would keep the events of its day.
  delivery: `state = 'queued' and (account_id, subscription_id) in (
    select account_id, id from subscription where is_endpoint and deleted_at < :before)`,
  // The URL of a removed endpoint brings nothing back. Its attempts are listed for as long as they are kept.
  subscription: `is_endpoint and deleted_at < :before and not exists (
    select from delivery where delivery.account_id = subscription.account_id and delivery.subscription_id = subscription.id)`,
} as const;

export type PurgedTable = keyof typeof OLD_ROWS;

/**
 * Deletes a batch of older rows. It skips rows that another process deletes.
 * @returns the number of deleted rows
 */
export async function purgeBatch(knex: Knex, table: PurgedTable, before: Date, limit: number): Promise<number> {
  if (await isDistributed(knex)) return purgeOnNodes(knex, table, before);
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${OLD_ROWS[table]} limit :limit for update skip locked))`,
    { before, limit },
  );
  return rowCount;
}

/** Maximum time to delete the old rows of one table on all nodes. */
const PURGE_TIMEOUT = '10min';

/** Deletes all older rows at once: the nodes of a distributed database do it side by side, and know no common limit. */
async function purgeOnNodes(knex: Knex, table: PurgedTable, before: Date): Promise<number> {
  if (table === 'event_owner') return purgeOwners(knex, before);
  return knex.transaction(async (trx) => {
    await trx.raw(`set local statement_timeout = '${PURGE_TIMEOUT}'`);
    const { rowCount } = await trx.raw<{ rowCount: number }>(`delete from ${table} where ${OLD_ROWS[table]}`, {
      before,
    });
    return rowCount;
  });
}

/** Every node has a copy of the owners, and a part of the deliveries. */
async function purgeOwners(knex: Knex, before: Date): Promise<number> {
  const held = knex('delivery').distinct('owner').where({ state: 'delivering' });
  const rows = await knex('event_owner').select('id').where('heartbeat_at', '<', before);
  const holders = new Set((await held).map(({ owner }) => owner));
  const ids = rows.map(({ id }) => id).filter((id) => !holders.has(id));
  return knex('event_owner').whereIn('id', ids).where('heartbeat_at', '<', before).delete();
}
