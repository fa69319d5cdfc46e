import type { Knex } from 'knex';

interface NamedStatement {
  /** Name of exactly one text. The driver refuses another text with the same name. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Runs a statement that each connection parses once, and plans once after some runs. Use it only for statements whose best plan does not
 * depend on the size of a table, because the plan stays until PostgreSQL analyzes one of its tables again.
 */
export function runNamed<Result>(
  knex: Knex,
  { name, sql }: NamedStatement,
  bindings: readonly Knex.RawBinding[],
): Knex.Raw<{ rows: Result[] }> {
  return knex.raw(sql, [...bindings]).options({ name });
}
