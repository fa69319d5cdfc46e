import type { Knex } from 'knex';
import { isDistributed } from './distributed.ts';
import { DISTRIBUTION } from './distribution.ts';

/** Progress of the removal of an account's data: more may be left, something must be awaited, or nothing is left. */
export type Removal = 'more' | 'waits' | 'done';

const BATCH = 2_000;

/** Deletes a batch of an account's rows. Rows that others have locked are left to the next call. */
export async function removeRows(
  knex: Knex,
  table:
    | 'idempotency_record'
    | 'oauth_authorization'
    | 'oauth_code'
    | 'delivery'
    | 'connect_session'
    | 'user_invitation'
    | 'access_key',
  accountId: number,
  where = 'true',
): Promise<Removal> {
  // Each node with a copy would choose other rows.
  if (DISTRIBUTION[table]?.placement === 'reference' && (await isDistributed(knex))) {
    await knex.raw(`delete from ${table} where account_id = ? and ${where}`, [accountId]);
    return 'done';
  }
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `delete from ${table} where account_id = :accountId and ctid = any(array(
       select ctid from ${table} where account_id = :accountId and ${where} limit :limit for update skip locked))`,
    { accountId, limit: BATCH },
  );
  return rowCount === 0 ? 'done' : 'more';
}
