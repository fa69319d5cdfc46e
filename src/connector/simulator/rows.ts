import type { TableRow } from './table.ts';

/** Texts that have broken quoting, patterns, encodings or guesses of a type somewhere. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  "'",
  "''",
  '"',
  '`',
  '‘’“”´',
  "' or 1 eq 1 or '",
  "x' OR 'x'='x",
  '%',
  '_',
  '100%_sure',
  '\\',
  '\\%',
  "\\'",
  '^caret$',
  '[brackets]',
  '(a) {b} <c>',
  'two\nlines',
  'tab\tand\rreturn',
  'null',
  'a,b;c&d=e+f#g?h/i',
  '%27%20or%201',
  'javascript:alert(1)',
  '${x} {{y}}',
  'ÄÖÜ ß ẞ İ ı',
  'e\u0301',
  '日本語',
  '😀👩‍🚀',
  '\u{10ffff}',
  '2024-02-29T08:30:00Z',
  '-12.50',
  'x'.repeat(600),
];

/** The value of a column in the row of an index: the same rows every time. */
export type Column = (index: number) => unknown;

export function makeRows(count: number, columns: Readonly<Record<string, Column>>): readonly TableRow[] {
  return times(count, (index) => makeRow(index, columns));
}

function makeRow(index: number, columns: Readonly<Record<string, Column>>): TableRow {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column(index)]));
}

export function times<Value>(count: number, create: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

/** One after the other, and from the start again. */
export function cycle<Value>(values: readonly Value[], step = 1, start = 0): (index: number) => Value {
  return (index) => pick(values, index * step + start);
}

export function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('Nothing to pick from.');
  return value;
}

/** `value` in every row; in every nth of them, the one of this place, null. */
export function sparse(nth: number, column: Column, place = nth - 1): Column {
  return (index) => (index % nth === place ? null : column(index));
}

export const DAY_MS = 86_400_000;

/** A day so many days after another one. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** What a schema says of a column that has no values of its own. */
export interface ColumnSchema {
  readonly type: 'text' | 'integer' | 'decimal' | 'boolean' | 'date' | 'instant';
  /** Every nth row has none. */
  readonly nullEvery?: number;
  /** Of a text, in characters. */
  readonly longest?: number;
  readonly values?: readonly unknown[];
}

const FIRST_DAY = '2023-12-30';
const BASES: Readonly<Record<ColumnSchema['type'], Column>> = {
  text: cycle(HOSTILE_TEXTS),
  integer: cycle([0, 1, -1, 7, 2_147_483_647, -2_147_483_648, 100]),
  decimal: cycle(['0.10', '0.20', '0.30', '-12.5', '123456789012.34', '0', '1']),
  boolean: (index) => index % 2 === 0,
  date: (index) => dayAfter(FIRST_DAY, index * 31),
  instant: (index) => new Date(Date.parse(FIRST_DAY) + index * (DAY_MS + 61_001)).toISOString(),
};

/** Rows for a schema: hostile texts, numbers at their ends, days around turns of the year, and nulls, in each column at other rows. */
export function makeRowsFor(count: number, schema: Readonly<Record<string, ColumnSchema>>): readonly TableRow[] {
  const columns = Object.entries(schema).map(([name, column], place): [string, Column] => [
    name,
    columnFor(column, place),
  ]);
  return makeRows(count, Object.fromEntries(columns));
}

/** `place` shifts the values, so that no two columns go through them together. */
function columnFor({ type, nullEvery, longest, values }: ColumnSchema, place: number): Column {
  const base = values === undefined ? BASES[type] : cycle(values);
  const shifted: Column = (index) => base(index + place);
  const cut: Column = longest === undefined ? shifted : (index) => String(shifted(index)).slice(0, longest);
  return nullEvery === undefined ? cut : sparse(nullEvery, cut, place % nullEvery);
}
