import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';

/** Rows as tests look at them. */
export type DeliveryRow = Tables['delivery'];
export type AttemptRow = Tables['delivery_attempt'];

/** The account of the tests, with the id 1. */
export async function addAccount(knex: Knex): Promise<void> {
  await knex('organization').insert({ name: 'Test' });
  await knex('account').insert({ organization_id: 1, name: 'Test', external_id: 'Test' });
}

export function deliveries(knex: Knex): Promise<readonly DeliveryRow[]> {
  return knex('delivery').orderBy('id').then();
}

export function attemptsOf(knex: Knex): Promise<readonly AttemptRow[]> {
  return knex('delivery_attempt').orderBy(['delivery_id', 'attempt']).then();
}

export async function emptyTables(knex: Knex): Promise<void> {
  await knex.raw('truncate delivery, delivery_attempt, event, event_key, event_owner, subscription');
}
