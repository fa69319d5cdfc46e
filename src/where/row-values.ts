import { ExactNumber, isMembers } from '../numbers/exact-json.ts';
import { isDate } from './instant.ts';

/** A normalised record: our names, our values. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Reads a field of a row; the dots of a name lead into nested objects. Only what is the row's own counts: no row has a
 * `constructor` because every object has one.
 */
export function reader(name: string): (row: Row) => unknown {
  if (isPlainName(name)) return (row) => row[name];
  const path = name.split('.');
  return (row) => path.reduce<unknown>(ownProperty, row);
}

/** Whether a field of that name is read, and set, as a member of its row. */
export function isPlainName(name: string): boolean {
  return !name.includes('.') && !(name in Object.prototype);
}

function ownProperty(value: unknown, key: string): unknown {
  return isMembers(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

// What a value in a row is under its field's type; undefined when it cannot be read so, which makes a predicate unknown.
// The same spellings are taken as from literals: `'1'` is the number 1, `'true'` is true.

export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const isScalar = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';
  return isScalar || value instanceof ExactNumber ? String(value) : undefined;
}

export function readBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' && value.length <= 'false'.length ? value.toLowerCase() : '';
  return word === 'true' || word === 'false' ? word === 'true' : undefined;
}

/** The day of a date, or of a date-time as it is written. */
export function readDate(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const separator = value[10];
  const day = separator === undefined ? value : separator === 'T' || separator === ' ' ? value.slice(0, 10) : '';
  return isDate(day) ? day : undefined;
}
