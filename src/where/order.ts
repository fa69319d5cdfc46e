import { compareDecimals } from '../numbers/decimal.ts';
import { readDecimal } from '../numbers/number-value.ts';
import { compareText } from './collation.ts';
import { compareInstants, readInstant } from './instant.ts';
import type { PushedField } from './model.ts';
import { readBoolean, readDate, readText } from './row-values.ts';

type Compare = (a: unknown, b: unknown) => number;

/**
 * Returns the order of two values of a field, as for `sort`. When ascending, null, missing and unreadable values are last, as nulls in
 * PostgreSQL.
 */
export function compareValues(field: PushedField): Compare {
  return ORDERS[field.type](field);
}

const ORDERS: Readonly<Record<PushedField['type'], (field: PushedField) => Compare>> = {
  string: ({ collation }) => byKey(readText, (a, b) => compareText(a, b, collation)),
  number: numberOrder,
  integer: numberOrder,
  boolean: () => byKey(readBoolean, (a, b) => Number(a) - Number(b)),
  date: () => byKey(readDate, (a, b) => compareText(a, b)),
  datetime: () => byKey((value) => mapDefined(readText(value), readInstant), compareInstants),
  object: () => () => 0,
  array: () => () => 0,
};

/** Doubles have the order of the decimals that they print. */
function numberOrder(): Compare {
  const compare = byKey(readDecimal, compareDecimals);
  return (a, b) => (Number.isFinite(a) && Number.isFinite(b) ? Number(a) - Number(b) : compare(a, b));
}

function byKey<Key>(read: (value: unknown) => Key | undefined, compare: (a: Key, b: Key) => number): Compare {
  return (a, b) => {
    const [x, y] = [read(a), read(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return compare(x, y);
  };
}

function mapDefined<Input, Output>(
  input: Input | undefined,
  map: (input: Input) => Output | undefined,
): Output | undefined {
  return input === undefined ? undefined : map(input);
}
