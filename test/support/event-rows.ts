import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';
import { type TestDatabase, useDatabase } from './database.ts';

/** A row of the deliveries, as tests read it. */
export type DeliveryRow = Tables['delivery'];
export type AttemptRow = Tables['delivery_attempt'];

/** Adds the account of the tests, with id 1. */
export async function addAccount(knex: Knex): Promise<void> {
  await knex('organization').insert({ name: 'Test' });
  await knex('account').insert({ organization_id: 1, name: 'Test', external_id: 'Test' });
}

/** Adds a user to an account. Users of tests have no secrets. */
export async function addUser(knex: Knex, accountId = 1): Promise<void> {
  const user = { organization_id: 1, account_id: accountId, email_address: `${accountId}@b.example` };
  await knex('app_user').insert({ ...user, first_name: 'A', last_name: 'B' });
}

export async function addInstances(knex: Knex, ids: readonly number[], accountId = 1): Promise<void> {
  await knex.raw(
    `insert into instance (account_id, id, user_id, name, element_key, credentials, token, token_hash)
     overriding system value
     select ?::bigint, n, (select min(id) from app_user where account_id = ?::bigint), 'x', 'odata', '', '', sha256(gen_random_uuid()::text::bytea)
     from unnest(?::bigint[]) n`,
    [accountId, accountId, [...ids]],
  );
}

/** Creates a database with account 1, its user and instances of these ids. */
export function useAccountDatabase(...instanceIds: readonly number[]): TestDatabase {
  const database = useDatabase();
  before(async () => {
    await addAccount(database.knex);
    await addUser(database.knex);
    await addInstances(database.knex, instanceIds);
  });
  return database;
}

export function deliveries(knex: Knex): Promise<readonly DeliveryRow[]> {
  return knex('delivery').orderBy('id').then();
}

export function attemptsOf(knex: Knex): Promise<readonly AttemptRow[]> {
  return knex('delivery_attempt').orderBy(['delivery_id', 'attempt']).then();
}

export async function emptyTables(knex: Knex): Promise<void> {
  await knex.raw(
    'truncate delivery, delivery_attempt, event, event_key, event_owner, endpoint_rate, endpoint, subscription',
  );
}
