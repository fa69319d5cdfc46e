import type { Knex } from 'knex';

/** Rows as tests look at them. */
export interface DeliveryRow {
  readonly id: number;
  readonly state: string;
  readonly attempts: number;
  readonly retries: number;
  readonly owner: string | null;
  readonly due: Date | null;
  readonly last_error: string | null;
  readonly subscription_id: number;
  readonly event_id: string;
}

export interface AttemptRow {
  readonly delivery_id: number;
  readonly attempt: number;
  readonly attempted_at: Date;
  readonly delivered: boolean;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly answer: string | null;
}

/** The account of the tests, with the id 1. */
export async function addAccount(knex: Knex): Promise<void> {
  await knex('organization').insert({ name: 'Test', secret_hash: Buffer.alloc(32) });
  await knex('account').insert({ organization_id: 1, name: 'Test' });
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
