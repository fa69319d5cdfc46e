import { canonicalDecimal } from '../../numbers/decimal.ts';
import { ExactNumber, isJsonObject } from '../../numbers/exact-json.ts';
import { readDecimal, toDecimalText, toJsonNumber } from '../../numbers/number-value.ts';
import type { FieldSpec } from '../../where/model.ts';
import { readEpoch, readInUtc, readLocalTime, writeEpoch, writeLocalTime } from './times.ts';

/**
 * The provider's form of a value and ours, for `FieldSpec.read` and `write`. What is not of the form stays as it is, and null stays null: the
 * core says what does not fit its field.
 */
export type Codec = Required<Pick<FieldSpec, 'read' | 'write'>>;

type Convert = (value: unknown) => unknown;

/** To be spread into a field: `{ type: 'date', ...codec.blank(codec.day) }`. */
export const codec = {
  /** An instant with any offset, `+0200` too ↔ UTC, with every digit of the fraction, and at least so many. */
  instant: (digits = 0) => ofText(readInUtc(digits), (text) => text),
  epochSeconds: { read: readEpoch(0), write: writeEpoch(0) },
  epochMilliseconds: { read: readEpoch(3), write: writeEpoch(3) },
  /** `yyyy-MM-dd HH:mm:ss` on the clocks of a zone, an IANA name ↔ UTC. An hour that the clocks show twice is the first of the two. */
  localTime: (zone = 'UTC') => ofText(readLocalTime(zone), writeLocalTime(zone)),
  /** A day, perhaps with a time behind it, which is left out. `0000-00-00` is none. */
  day: ofText(readDay, (text) => text),
  /** A whole number, written as number or text. */
  integer: { read: onText((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)), write: same },
  /** A decimal as text, at the provider ↔ a number with all its digits. */
  decimal: { read: toJsonNumber, write: toDecimalText },
  /** Money with a currency, which is left out: `27000.00 USD`, `{ value, currency }` ↔ a number with all its digits; written as text. */
  money: { read: readMoney, write: toDecimalText },
  /** Money in its smallest unit, `1999` ↔ `19.99`. `places`: of the currency. */
  minorUnits: (places = 2): Codec => ({ read: shiftBy(-places), write: shiftBy(places) }),
  /** A boolean in two words; `1`, `0`, `true` and `false` are read as well. */
  flag: (yes: string | number, no: string | number): Codec => ({
    read: (native) => flagOf(new Map([...FLAGS, [String(yes), true], [String(no), false]]), native),
    write: (value) => (typeof value === 'boolean' ? (value ? yes : no) : value),
  }),
  /** Several texts in one: `A;B` ↔ `['A', 'B']`. Without a separator a text is a list of one. */
  list: (separator?: string): Codec => ({
    read: onText((text) => (text === '' ? [] : separator === undefined ? [text] : text.split(separator))),
    write: (value) => (Array.isArray(value) && separator !== undefined ? value.join(separator) : value),
  }),
  /** Empty text is no value, and is written for none. */
  blank: ({ read, write }: Codec = { read: same, write: same }): Codec => ({
    read: (native) => (native === '' ? null : read(native)),
    write: (value) => (value === null ? '' : write(value)),
  }),
  /** The members of a list, or of an object. */
  each: ({ read, write }: Codec): Codec => ({ read: onMembers(read), write: onMembers(write) }),
} as const;

function same(value: unknown): unknown {
  return value;
}

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

function shiftBy(places: number): Convert {
  return (value) => {
    const text = readDecimal(value);
    const shifted = text === undefined ? undefined : canonicalDecimal(`${text}e${places}`);
    return shifted === undefined ? value : toJsonNumber(shifted);
  };
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

function flagOf(words: ReadonlyMap<string, boolean>, native: unknown): unknown {
  const isWord = typeof native === 'string' || typeof native === 'number';
  return (isWord ? words.get(String(native)) : undefined) ?? native;
}
