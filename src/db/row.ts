import type { Tables } from '../../generated/tables.ts';

/**
 * A row as a store reads it: columns that the migrations made, by their names in the service (`account_id` is `accountId`).
 * Statements that knex builds are checked by their own column names as well (`knex-tables.d.ts`); what a raw one answers is
 * checked by nobody, so its `as` and its type stand side by side.
 */
export type Row<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Tables[Table][Name];
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
