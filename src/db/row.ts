import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';

/**
 * A row as a store reads it: columns of the migrations under their names in the service (`account_id` is `accountId`). In statements that
 * knex builds, the compiler also checks inserted, updated and returned columns (`knex-tables.d.ts`). It does not check names in a `where`,
 * a single column in a `first`, and raw statements.
 */
export type RowOf<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Tables[Table][Name];
};

/**
 * Columns to select, by their names in the service. Knex accepts any name and fails only when the statement runs; this type finds wrong
 * names at compile time.
 */
export type ColumnsOf<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Name;
};

/** Returns columns of a table to select, by their names in the service. */
export function columnsOf<Table extends keyof Tables, const Column extends keyof Tables[Table] & string>(
  _table: Table,
  columns: readonly Column[],
): ColumnsOf<Table, Column> {
  // These are the names that `CamelCase` produces.
  return Object.fromEntries(columns.map((column) => [camelCase(column), column])) as ColumnsOf<Table, Column>;
}

function camelCase(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A row with the columns that `columnsOf` selects. */
export type RowWith<Table extends keyof Tables, Columns> = RowOf<Table, Columns[keyof Columns] & keyof Tables[Table]>;

/** Returns the values of a row by column name, for a statement. Undefined values are left out. */
export function toColumns<Table extends keyof Tables, Values extends Partial<Given<RowOf<Table>>>>(
  _table: Table,
  values: Values & Readonly<Record<Exclude<keyof Values, keyof RowOf<Table>>, never>>,
) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  // The inverse of `CamelCase`: no name of a column has a digit or a capital behind its `_`.
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value])) as {
    [Name in keyof Tables[Table] as CamelCase<Name & string> extends keyof Values ? Name : never]: Tables[Table][Name];
  };
}

/** A value may be an expression. */
type Given<Row> = { readonly [Name in keyof Row]: Row[Name] | Knex.Raw };

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** Returns the first row of a statement that always returns one. @throws Error if there is none */
export function firstOf<Result>(rows: readonly Result[]): Result {
  const [row] = rows;
  if (row === undefined) throw new Error('A statement had no row where there always is one.');
  return row;
}
