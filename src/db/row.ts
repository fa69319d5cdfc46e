import type { Tables } from '../../generated/tables.ts';

/** A row as a store reads it: columns that the migrations made, by their names in the service (`account_id` is `accountId`). */
export type Row<Table extends keyof Tables, Column extends keyof Tables[Table] = keyof Tables[Table]> = {
  readonly [Name in Column as CamelCase<Name & string>]: Tables[Table][Name];
};

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
