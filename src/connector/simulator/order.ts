import type { Row } from './table.ts';

/** One term of an order. */
export interface OrderTerm {
  /** What the provider compares by: numbers as such, texts folded as it does; null for nothing. */
  readonly read: (row: Row) => string | number | bigint | boolean | null;
  readonly descending?: boolean;
  /** Where rows without a value stand. Default `first` in ascending order and last in descending. */
  readonly nulls?: 'first' | 'last';
}

/** A new list; rows that no term tells apart stay in their order. Keys are read once per row. */
export function sortRows(rows: readonly Row[], terms: readonly OrderTerm[]): readonly Row[] {
  if (terms.length === 0) return rows;
  const keyed = rows.map((row) => ({ row, keys: terms.map(({ read }) => read(row)) }));
  keyed.sort((a, b) => compareKeys(a.keys, b.keys, terms));
  return keyed.map(({ row }) => row);
}

type Keys = readonly ReturnType<OrderTerm['read']>[];

function compareKeys(a: Keys, b: Keys, terms: readonly OrderTerm[]): number {
  for (const [index, { descending = false, nulls = descending ? 'last' : 'first' }] of terms.entries()) {
    const [x, y] = [a[index] ?? null, b[index] ?? null];
    if (x === y) continue;
    if (x === null || y === null) return (x === null) === (nulls === 'first') ? -1 : 1;
    if (x !== y) return x < y === descending ? 1 : -1;
  }
  return 0;
}
