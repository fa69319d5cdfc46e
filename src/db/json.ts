import type { Knex } from 'knex';

/**
 * Returns the value of a JSON column for a statement that knex builds. Knex would inspect an object: it treats one with a member
 * `isRawInstance` as SQL, and callers may choose member names.
 */
export function json<Value extends object>(knex: Knex, value: Value): Knex.Raw<Value> {
  return knex.raw('?::jsonb', [JSON.stringify(value)]);
}

/** Returns the value of a JSON column that keeps the order of members, which the type `jsonb` changes. */
export function orderedJson<Value extends object>(knex: Knex, value: Value): Knex.Raw<Value> {
  return knex.raw('?::json', [JSON.stringify(value)]);
}
