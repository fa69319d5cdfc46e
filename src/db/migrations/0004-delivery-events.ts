import type { Knex } from 'knex';

/** Deliveries are found by their event without reading all of the account. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index delivery_event on delivery (account_id, event_id)');
  await knex.raw('create index delivery_attempt_event on delivery_attempt (account_id, event_id) where delivered');
}
