import { ExactNumber, isMembers } from '../numbers/exact-json.ts';
import { isDate } from './instant.ts';

/** A normalised record: the field names and values of the API. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Returns a function that reads a field of a row. Dots in the name lead into nested objects. Only own properties count, so no row has a
 * `constructor`.
 */
export function reader(name: string): (row: Row) => unknown {
  if (isPlainName(name)) return (row) => row[name];
  const path = name.split('.');
  return (row) => path.reduce<unknown>(ownProperty, row);
}

/** Returns whether a field with this name is read and written as a member of its row. */
export function isPlainName(name: string): boolean {
  return !name.includes('.') && !(name in Object.prototype);
}

function ownProperty(value: unknown, key: string): unknown {
  return isMembers(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

// The readers below return a row's value as its field's type, or undefined when it cannot be read so, which makes a predicate unknown. They
// accept the same spellings as literals: `'1'` is the number 1, and `'true'` is true.

/** Returns a scalar value as text, otherwise undefined. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isScalar = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';
  return isScalar || value instanceof ExactNumber ? String(value) : undefined;
}

/** Returns a boolean, or undefined. */
export function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' && value.length <= 'false'.length ? value.toLowerCase() : '';
  return word === 'true' || word === 'false' ? word === 'true' : undefined;
}

/** Returns the day of a date, or of a date-time in its own time zone, as `yyyy-MM-dd`; otherwise undefined. */
export function readDate(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const separator = value[10];
  const day = separator === undefined ? value : separator === 'T' || separator === ' ' ? value.slice(0, 10) : '';
  return isDate(day) ? day : undefined;
}
