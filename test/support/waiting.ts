import type { Knex } from 'knex';
import { isDistributedRun, LOCKS } from './nodes.ts';

/**
 * Counts the locks that sessions of a test's database wait for, of one type or of any. On one server, tests beside this one have databases of
 * their own, so their sessions don't count. Advisory locks are those of the coordinator.
 */
export async function countWaiting(knex: Knex, locktype?: 'advisory' | 'transactionid'): Promise<number> {
  const isOnNodes = isDistributedRun && locktype !== 'advisory';
  const { rows } = await knex.raw(
    `select from ${isOnNodes ? LOCKS : 'pg_locks join pg_stat_activity using (pid)'}
     where not granted and (?::text is null or locktype = ?) ${isOnNodes ? '' : 'and datname = current_database()'}`,
    [locktype ?? null, locktype ?? null],
  );
  return rows.length;
}

/** Makes each update of these tables take a lock first (a call in SQL), after it has decided which rows it sees. */
export async function holdChanges(knex: Knex, tables: readonly string[], lock: string): Promise<void> {
  await knex.raw(
    `create function wait_for_turn() returns trigger language plpgsql as $$ begin perform ${lock}; return null; end $$`,
  );
  for (const table of tables)
    await knex.raw(`create trigger turn before update on ${table} for each statement execute function wait_for_turn()`);
}
