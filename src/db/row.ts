import type { Tables } from '../../generated/tables.ts';

/**
 * A row as a store reads it: columns that the migrations made, by their names in the service (`account_id` is `accountId`).
 * In statements that knex builds it also checks what is inserted, updated and returned (`knex-tables.d.ts`); of names in a
 * `where`, a single one in a `first`, and a raw statement it knows nothing.
 */
export type RowOf<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Tables[Table][Name];
};

/** What to select for a `Row`: each column by its name there. Knex takes any, and finds out when the statement runs. */
export type ColumnsOf<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Name;
};

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Of a statement that always has one. @throws when it has none */
export function firstOf<Result>(rows: readonly Result[]): Result {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement had no row where there always is one.');
  return row;
}
