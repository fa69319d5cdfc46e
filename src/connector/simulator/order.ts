import { compareValues } from '../../where/index.ts';
import type { FilterField } from './filter.ts';
import type { TableRow } from './table.ts';

/** One term of an order: a field as the provider compares it. */
export interface RowOrder extends FilterField {
  readonly read: (row: TableRow) => unknown;
  readonly descending?: boolean;
  /** The position of rows without a value. Default `first` in ascending order and `last` in descending order. */
  readonly nulls?: 'first' | 'last';
}

/** Returns a sorted copy of the rows, in the platform's order for each type. Equal rows keep their positions. */
export function sortRows(rows: readonly TableRow[], terms: readonly RowOrder[]): readonly TableRow[] {
  if (terms.length === 0) return rows;
  const compares = terms.map(compareBy);
  const keyed = rows.map((row) => ({ row, keys: terms.map((term) => keyOf(term, row)) }));
  keyed.sort((a, b) => firstDifference(compares.map((compare, index) => () => compare(a.keys[index], b.keys[index]))));
  return keyed.map(({ row }) => row);
}

function keyOf({ read, fold }: RowOrder, row: TableRow): unknown {
  const value = read(row);
  return typeof value === 'string' && fold !== undefined ? fold(value) : value;
}

function firstDifference(compares: readonly (() => number)[]): number {
  for (const compare of compares) {
    const order = compare();
    if (order !== 0) return order;
  }
  return 0;
}

function compareBy({
  type,
  collation = 'cs',
  descending = false,
  nulls,
}: RowOrder): (a: unknown, b: unknown) => number {
  const compare = compareValues({ name: 'value', native: 'value', type, collation });
  const nullsFirst = (nulls ?? (descending ? 'last' : 'first')) === 'first';
  return (a, b) => {
    if (a == null || b == null) return (Number(a != null) - Number(b != null)) * (nullsFirst ? 1 : -1);
    return descending ? compare(b, a) : compare(a, b);
  };
}
