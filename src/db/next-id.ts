import type { Knex } from 'knex';
import { firstOf, type RowOf } from './row.ts';

/** Returns the id of a row before it is written: its ciphertexts are bound to the id, or a file is stored first. */
export async function nextId(
  knex: Knex,
  table:
    | 'access_key'
    | 'app_user'
    | 'bulk_job'
    | 'connect_authorization'
    | 'connect_session'
    | 'instance'
    | 'oauth_proxy'
    | 'organization_secret'
    | 'subscription'
    | 'user_invitation'
    | 'user_secret',
): Promise<number> {
  const { rows } = await knex.raw<{ rows: RowOf<typeof table, 'id'>[] }>(
    "select nextval(pg_get_serial_sequence(?, 'id')) as id",
    [table],
  );
  return firstOf(rows).id;
}
