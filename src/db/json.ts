import type { Knex } from 'knex';

/**
 * The value of a JSON column in a statement that knex builds. As an object it would be looked into: knex takes one with a
 * member `isRawInstance` for SQL, and keys may be a caller's.
 */
export function json<Value extends object>(knex: Knex, value: Value): Knex.Raw<Value> {
  return knex.raw('?::jsonb', [JSON.stringify(value)]);
}
