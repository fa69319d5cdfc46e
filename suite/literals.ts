import type { FieldSpec } from '#connector';
import { HOSTILE_TEXTS } from '#connector/simulator';
import type { Literal, Loc } from '../src/where/ast.ts';
import { readField } from './reference.ts';
import type { Row } from './target.ts';

/** The range of nodes that were not parsed from a text. */
export const NOWHERE: Loc = { offset: 0, length: 0 };

export { HOSTILE_TEXTS };

/** Returns literals to compare a field with: values that occur, values next to them, and values that never occur. */
export function literalsFor(name: string, spec: FieldSpec, rows: readonly Row[]): readonly Literal[] {
  const values = sample(
    rows.map((row) => readField(row, name)).filter((value) => value !== null && value !== undefined),
  );
  const make = LITERALS[spec.type];
  const literals = make === undefined ? [] : make(values.map(String));
  return [...new Map(literals.map((literal) => [JSON.stringify(literal), literal])).values()];
}

const SAMPLE_SIZE = 12;

/** Returns values from the whole range of distinct values. */
function sample(values: readonly unknown[]): readonly unknown[] {
  const distinct = [...new Map(values.map((value) => [String(value), value])).values()];
  const step = Math.max(1, distinct.length / SAMPLE_SIZE);
  return distinct.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** Returns a literal of a text. */
export const text = (value: string): Literal => ({ kind: 'string', text: value, loc: NOWHERE });
const number = (value: string): Literal => ({ kind: 'number', text: value, loc: NOWHERE });

const LITERALS: Readonly<Partial<Record<FieldSpec['type'], (values: readonly string[]) => readonly Literal[]>>> = {
  // Values that occur are first, so that a list of neighbouring literals has several of them.
  string: (values) => [...values, ...values.flatMap(textsNear), ...HOSTILE_TEXTS].map(text),
  number: (values) => [...values, ...values.flatMap(numbersNear), ...ODD_NUMBERS].flatMap(asNumber),
  integer: (values) => [...values, ...values.flatMap(integersNear), ...ODD_INTEGERS].flatMap(asNumber),
  boolean: () => [
    { kind: 'boolean', value: true, loc: NOWHERE },
    { kind: 'boolean', value: false, loc: NOWHERE },
    text('TRUE'),
  ],
  date: (values) => [...values, ...values.flatMap(daysNear), '0001-01-01', '9999-12-31'].flatMap(asDate),
  datetime: (values) => [...values, ...values.flatMap(instantsNear), '1970-01-01T00:00:00Z'].flatMap(asInstant),
};

function textsNear(value: string): readonly string[] {
  const swapped = value === value.toUpperCase() ? value.toLowerCase() : value.toUpperCase();
  return [swapped, `${value} `, `${value}x`, [...value].slice(0, -1).join(''), value.normalize('NFD')];
}

const ODD_NUMBERS = ['0', '-0.0', '1e3', '0.000000000001', '-99999999999999999999.5', '123456789012345678901234567890'];
const ODD_INTEGERS = ['0', '-1', '32768', '2147483648', '9223372036854775808', '-99999999999999999999'];

/** Returns neighbours of a number: they differ in the last digit, by one, and by less than a double can distinguish. */
function numbersNear(value: string): readonly string[] {
  const plain = value.includes('.') ? value : `${value}.0`;
  return [
    `${plain}1`,
    `${plain}00000000000000001`,
    `${plain}000`,
    shift(plain, -1),
    shift(plain, 1),
    value.replace(/^-?/, '-'),
  ];
}

/** Returns the neighbours of an integer. Empty for another value; a separate check reports that the field holds one. */
function integersNear(value: string): readonly string[] {
  if (!/^-?\d+$/.test(value)) return [];
  return [String(BigInt(value) - 1n), String(BigInt(value) + 1n)];
}

function shift(decimal: string, by: number): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return `${BigInt(whole) + BigInt(by)}.${fraction}`;
}

function asNumber(value: string): readonly Literal[] {
  return [number(value), ...(value.length % 3 === 0 ? [text(value)] : [])];
}

const DAY_MS = 86_400_000;

function daysNear(value: string): readonly string[] {
  return [-1, 1].map((days) => new Date(Date.parse(value) + days * DAY_MS).toISOString().slice(0, 10));
}

function asDate(value: string): readonly Literal[] {
  return [{ kind: 'date', text: value, loc: NOWHERE }, text(value)];
}

/**
 * Returns neighbours of an instant: a millisecond away, with more digits than most providers store, in other time zones, and the date
 * alone.
 */
function instantsNear(value: string): readonly string[] {
  const ms = Date.parse(value);
  const iso = (time: number) => new Date(time).toISOString();
  return [
    iso(ms - 1),
    iso(ms + 1),
    value.replace(/(\.\d+)?Z$/, (_, fraction: string | undefined) => `${(fraction ?? '.').padEnd(9, '0')}1Z`),
    iso(ms + 5.5 * 3_600_000).replace('Z', '+05:30'),
    iso(ms - 3_600_000).replace('Z', '-01:00'),
    iso(ms).slice(0, 10),
  ];
}

function asInstant(value: string): readonly Literal[] {
  const kind = /^\d{4}-\d\d-\d\d$/.test(value) ? 'date' : 'datetime';
  return [{ kind, text: value, loc: NOWHERE }, ...(value.length % 2 === 0 ? [text(value)] : [])];
}

/** Returns patterns of every form around texts that occur, with wildcards, and with escaped wildcards. */
export function patternsFor(literals: readonly Literal[]): readonly Literal[] {
  const texts = literals.flatMap((literal) => (literal.kind === 'string' ? [literal.text] : []));
  return [...texts.flatMap(patternsAround), '%', '%%', '_', '', '_%', '%_', ...HOSTILE_TEXTS].map(text);
}

function patternsAround(value: string): readonly string[] {
  const characters = [...value];
  const plain = (from: number, to?: number) =>
    characters
      .slice(from, to)
      .join('')
      .replace(/[\\%_]/g, '\\$&');
  const middle = Math.floor(characters.length / 2);
  return [
    plain(0),
    `${plain(0, middle)}%`,
    `%${plain(middle)}`,
    `%${plain(1, -1)}%`,
    `${plain(0, 1)}%${plain(-1)}`,
    `${plain(0, middle)}_${plain(middle + 1)}`,
    `_%${plain(2)}`,
    value,
  ];
}
