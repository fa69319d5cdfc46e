import { canonicalDecimal } from '../../numbers/decimal.ts';
import { ExactNumber, isJsonObject } from '../../numbers/exact-json.ts';
import { readDecimal, toDecimalText, toJsonNumber } from '../../numbers/number-value.ts';
import type { FieldSpec } from '../../where/model.ts';
import { readEpoch, readInUtc, readLocalTime, writeEpoch, writeLocalTime } from './times.ts';

/**
 * A conversion between the provider's form of a value and ours, for `FieldSpec.read` and `write`. A value of another form stays as it is,
 * and null stays null; the core then reports what does not fit the field.
 */
export type Codec = Required<Pick<FieldSpec, 'read' | 'write'>>;

type Convert = (value: unknown) => unknown;

/** Codecs to spread into a field: `{ type: 'date', ...codec.blank(codec.day) }`. */
export const codec = {
  /**
   * An instant with any offset, such as `Z`, `+02:00` or `+0200` ↔ UTC. It keeps every digit of the fraction and adds zeros up to `digits`.
   */
  instant: (digits = 0) => ofText(readInUtc(digits), (text) => text),
  /** An instant as seconds since 1970 ↔ UTC. Writing drops the fraction. */
  epochSeconds: { read: readEpoch(0), write: writeEpoch(0) },
  /** An instant as milliseconds since 1970 ↔ UTC. Writing drops what is below a millisecond. */
  epochMilliseconds: { read: readEpoch(3), write: writeEpoch(3) },
  /** `yyyy-MM-dd HH:mm:ss` in a time zone (an IANA name) ↔ UTC. For an hour that the clocks show twice, it reads the first. */
  localTime: (zone = 'UTC') => ofText(readLocalTime(zone), writeLocalTime(zone)),
  /** A date. Reading drops a time behind it, and `0000-00-00` becomes null. */
  day: ofText(readDay, (text) => text),
  /** A whole number of up to 15 digits, as number or text → a number. */
  integer: {
    read: onText((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)),
    write: (value: unknown) => value,
  },
  /** A decimal as text at the provider ↔ a number with all its digits. */
  decimal: { read: toJsonNumber, write: toDecimalText },
  /**
   * An amount with a currency, such as `27000.00 USD` or `{ value, currency }` → a number with all its digits. Reading drops the currency.
   * Writing returns the amount as text.
   */
  money: { read: readMoney, write: toDecimalText },
  /** An amount in the smallest unit of its currency, `1999` ↔ `19.99`. `places` is the number of decimals of the currency. */
  minorUnits: (decimals = 2): Codec => ({ read: shiftBy(-decimals), write: shiftBy(decimals) }),
  /** A boolean as two words. Reading also accepts `1`, `0`, `true` and `false`. */
  flag: (yes: string | number, no: string | number): Codec => {
    const words = new Map<unknown, boolean>([...FLAGS, [String(yes), true], [String(no), false]]);
    return {
      read: (native) => words.get(typeof native === 'number' ? String(native) : native) ?? native,
      write: (value) => (typeof value === 'boolean' ? (value ? yes : no) : value),
    };
  },
  /** A list as one text: `A;B` ↔ `['A', 'B']`. Without a separator, a text is a list with one item. */
  list: (separator?: string): Codec => ({
    read: onText((text) => (text === '' ? [] : separator === undefined ? [text] : text.split(separator))),
    write: (value) => (Array.isArray(value) && separator !== undefined ? value.join(separator) : value),
  }),
  /** Empty text ↔ null; other values by the given codec. */
  blank: (others?: Codec): Codec => ({
    read: (native) => (native === '' ? null : others === undefined ? native : others.read(native)),
    write: (value) => (value === null ? '' : others === undefined ? value : others.write(value)),
  }),
  /** Applies a codec to each item of a list, or to each member of an object. */
  each: ({ read, write }: Codec): Codec => ({ read: onMembers(read), write: onMembers(write) }),
} as const;

function onText(convert: (text: string) => unknown): Convert {
  return (value) => (typeof value === 'string' ? convert(value) : value);
}

function ofText(read: (text: string) => unknown, write: (text: string) => unknown): Codec {
  return { read: onText(read), write: onText(write) };
}

function onMembers(convert: Convert): Convert {
  return (value) => {
    if (Array.isArray(value)) return value.map(convert);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member)]));
  };
}

function readDay(text: string): unknown {
  const day = /^(\d{4}-\d{2}-\d{2})[ T]/.exec(text)?.[1] ?? text;
  return day === '0000-00-00' ? null : day;
}

function readMoney(native: unknown): unknown {
  if (native instanceof ExactNumber) return native;
  if (typeof native === 'object' && native !== null) return readMoney(Reflect.get(native, 'value') ?? null);
  return toJsonNumber(typeof native === 'string' ? native.replace(/^(-?\d+(?:\.\d+)?) [A-Z]{3}$/, '$1') : native);
}

function shiftBy(decimals: number): Convert {
  return (value) => {
    const text = readDecimal(value);
    const shifted = text === undefined ? undefined : canonicalDecimal(`${text}e${decimals}`);
    return shifted === undefined ? value : toJsonNumber(shifted);
  };
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);
