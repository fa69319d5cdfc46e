import { type Checked, isGroup, type Predicate } from '../../src/where/condition.ts';
import type { LikePattern, Value } from '../../src/where/model.ts';

/**
 * What a filter means, written from the definition of the language: over the checked tree, not the normalised one, in SQL's
 * three values, where `undefined` is unknown. Shares no code with what it judges; it is slow and plain on purpose.
 */
export type Truth = boolean | undefined;

type Row = Readonly<Record<string, unknown>>;

export function evaluate(node: Checked, row: Row): Truth {
  if (node.kind === 'not') return not(evaluate(node.operand, row));
  if (!isGroup<Checked>(node)) return test(node, row);
  const truths = node.operands.map((operand) => evaluate(operand, row));
  return node.kind === 'and' ? and(truths) : not(and(truths.map(not)));
}

function and(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(undefined) ? undefined : true;
}

function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

function test(predicate: Predicate, row: Row): Truth {
  const value = valueAt(row, predicate.field.name);
  if (predicate.kind === 'isNull') return (value === null || value === undefined) !== predicate.negated;
  if (value === null || value === undefined) return undefined;
  const isFolded = predicate.field.collation === 'ci';
  if (predicate.kind === 'like') {
    const truth =
      typeof value === 'object'
        ? undefined
        : isLike(charactersOf(value, isFolded), stepsOf(predicate.pattern, isFolded));
    return predicate.negated ? not(truth) : truth;
  }
  if (predicate.kind === 'in') {
    const equal = predicate.values.map((literal) => mapOrder(order(value, literal, isFolded), (sign) => sign === 0));
    const truth = not(and(equal.map(not)));
    return predicate.negated ? not(truth) : truth;
  }
  const sign = order(value, predicate.value, isFolded);
  switch (predicate.operator) {
    case '=':
      return mapOrder(sign, (known) => known === 0);
    case '!=':
      return mapOrder(sign, (known) => known !== 0);
    case '<':
      return mapOrder(sign, (known) => known < 0);
    case '<=':
      return mapOrder(sign, (known) => known <= 0);
    case '>':
      return mapOrder(sign, (known) => known > 0);
    case '>=':
      return mapOrder(sign, (known) => known >= 0);
  }
}

function mapOrder(sign: number | undefined, test: (sign: number) => boolean): Truth {
  return sign === undefined ? undefined : test(sign);
}

function valueAt(row: Row, name: string): unknown {
  let value: unknown = row;
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

/** Sign of the order of a row's value and a literal; undefined when the value cannot be of the literal's type. */
function order(value: unknown, literal: Value, isFolded: boolean): number | undefined {
  if (typeof value === 'object') return undefined;
  switch (literal.kind) {
    case 'string':
      return compareCharacters(charactersOf(value, isFolded), charactersOf(literal.value, isFolded));
    case 'number':
      return compareFractions(fractionOf(value), fractionOf(literal.text));
    case 'boolean':
      return compareBigInts(truthOf(value), literal.value ? 1n : 0n);
    case 'date':
      return compareBigInts(dayOf(value), dayOf(literal.text));
    case 'datetime':
      return compareBigInts(nanosecondsOf(value), nanosecondsOf(literal.text));
  }
}

function compareBigInts(a: bigint | undefined, b: bigint | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  return a < b ? -1 : Number(a > b);
}

/** Code points, each by itself folded: to capital and back, where that is one code point; the Turkish letters are their own. */
function charactersOf(value: unknown, isFolded: boolean): readonly number[] {
  const points = Array.from(String(value), (character) => character.codePointAt(0) ?? -1);
  return isFolded ? points.map(foldPoint) : points;
}

const TURKISH = [0x130, 0x131];

function foldPoint(point: number): number {
  if (TURKISH.includes(point)) return point;
  const only = (text: string, otherwise: number) => ([...text].length === 1 ? (text.codePointAt(0) ?? -1) : otherwise);
  const capital = only(String.fromCodePoint(point).toUpperCase(), point);
  return only(String.fromCodePoint(capital).toLowerCase(), point);
}

function compareCharacters(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((point, index) => point !== b[index]);
  if (at === -1) return a.length - b.length;
  return (a[at] ?? -1) - (b[at] ?? -1);
}

type Step = number | 'one' | 'any';

function stepsOf(pattern: LikePattern, isFolded: boolean): readonly Step[] {
  return pattern.parts.flatMap((part): readonly Step[] =>
    part.kind === 'text' ? charactersOf(part.text, isFolded) : [part.kind],
  );
}

/** Which beginnings of the text the steps so far can match: all places at once, step by step. */
function isLike(characters: readonly number[], steps: readonly Step[]): boolean {
  let places = new Set([0]);
  for (const step of steps) {
    const next = new Set<number>();
    for (const place of places) {
      if (step === 'any') for (let end = place; end <= characters.length; end++) next.add(end);
      else if (place < characters.length && (step === 'one' || step === characters[place])) next.add(place + 1);
    }
    places = next;
  }
  return places.has(characters.length);
}

interface Fraction {
  readonly numerator: bigint;
  readonly scale: number;
}

function fractionOf(value: unknown): Fraction | undefined {
  if (typeof value === 'boolean') return undefined;
  const match = /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*$/.exec(String(value));
  if (match === null || `${match[2]}${match[3]}` === '') return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  const numerator = scale < 0 ? digits * 10n ** BigInt(-scale) : digits;
  return { numerator: sign === '-' ? -numerator : numerator, scale: Math.max(scale, 0) };
}

function compareFractions(a: Fraction | undefined, b: Fraction | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  return compareBigInts(a.numerator * 10n ** BigInt(b.scale), b.numerator * 10n ** BigInt(a.scale));
}

function truthOf(value: unknown): bigint | undefined {
  const word = typeof value === 'boolean' || typeof value === 'string' ? String(value).toLowerCase() : '';
  return word === 'true' ? 1n : word === 'false' ? 0n : undefined;
}

function dayOf(value: unknown): bigint | undefined {
  const day = typeof value === 'string' ? /^(\d{4}-\d\d-\d\d)(?:[T ].*)?$/s.exec(value)?.[1] : undefined;
  return day === undefined ? undefined : nanosecondsOf(day);
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(?:Z|([+-])(\d\d):?(\d\d)?)?)?$/i;

function nanosecondsOf(value: unknown): bigint | undefined {
  const match = typeof value === 'string' ? INSTANT.exec(value) : null;
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isCalendarDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isCalendarDay || hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = (match[8] === '-' ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  const seconds = date.getTime() / 1000 + (hour * 60 + minute - offset) * 60 + second;
  return BigInt(seconds) * 1_000_000_000n + BigInt((match[7] ?? '').padEnd(9, '0').slice(0, 9));
}
