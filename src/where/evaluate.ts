import type { ComparisonOperator } from './ast.ts';
import { type Condition, isGroup, type Predicate } from './condition.ts';
import { canonicalDecimal, compareDecimals, fitsDouble } from './decimal.ts';
import { compareInstants, readInstant } from './instant.ts';
import { compileLike } from './like.ts';
import type { PushedField, Value } from './model.ts';

/** A normalised record: our names, our values. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether the filter is true for a row. Missing, null and unreadable values are unknown, which is not true. */
export type RowTest = (row: Row) => boolean;

/** Compiles a normalised condition once, so that testing a row costs a few property reads. */
export function compileCondition(condition: Condition): RowTest {
  if (!isGroup<Condition>(condition)) return compilePredicate(condition);
  const tests = condition.operands.map(compileCondition);
  return condition.kind === 'and'
    ? (row) => tests.every((test) => test(row))
    : (row) => tests.some((test) => test(row));
}

function compilePredicate(predicate: Predicate): RowTest {
  const read = reader(predicate.field.name);
  if (predicate.kind === 'isNull') {
    const { negated } = predicate;
    return (row) => (read(row) == null) !== negated;
  }
  const test = compileValueTest(predicate);
  return (row) => {
    const value = read(row);
    return value != null && test(value);
  };
}

/** Reads a field of a row; the dots of a name lead into nested objects. */
export function reader(name: string): (row: Row) => unknown {
  const path = name.split('.');
  if (path.length === 1) return (row) => row[name];
  return (row) => path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), row);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

type ValuePredicate = Exclude<Predicate, { kind: 'isNull' }>;

function compileValueTest(predicate: ValuePredicate): (value: unknown) => boolean {
  if (predicate.kind === 'compare') return compileComparison(predicate.field, predicate.operator, predicate.value);
  if (predicate.kind === 'in') return compileMembership(predicate.field, predicate.values, predicate.negated);
  const fold = folder(predicate.field);
  const matches = compileLike(foldPattern(predicate.pattern, fold));
  return (value) => matches(fold(String(value))) !== predicate.negated;
}

function foldPattern(pattern: Extract<Predicate, { kind: 'like' }>['pattern'], fold: (text: string) => string) {
  const parts = pattern.parts.map((part) => (part.kind === 'text' ? { ...part, text: fold(part.text) } : part));
  return { ...pattern, text: fold(pattern.text), parts };
}

/** Text under the field's collation. */
function folder(field: PushedField): (text: string) => string {
  return field.collation === 'ci' ? (text) => text.toLowerCase() : (text) => text;
}

const ACCEPTS: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function compileComparison(field: PushedField, operator: ComparisonOperator, literal: Value) {
  const compare = comparator(field, literal);
  const accepts = ACCEPTS[operator];
  return (value: unknown) => {
    const order = compare(value);
    return order !== undefined && accepts(order);
  };
}

/** How a row's value stands to the literal: below, equal, above; undefined when it is not of the field's type. */
function comparator(field: PushedField, literal: Value): (value: unknown) => number | undefined {
  switch (literal.kind) {
    case 'string':
      return textComparator(literal.value, folder(field));
    case 'number':
      return decimalComparator(literal.text);
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? Number(value) - Number(literal.value) : undefined);
    case 'date':
      return (value) => (typeof value === 'string' ? order(value.slice(0, 10), literal.text) : undefined);
    case 'datetime':
      return instantComparator(literal);
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function textComparator(literal: string, fold: (text: string) => string) {
  const wanted = fold(literal);
  return (value: unknown) => compareText(fold(typeof value === 'string' ? value : String(value)), wanted);
}

/** By code point: UTF-16 order would put U+FF00 above an emoji. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function decimalComparator(literal: string) {
  const double = fitsDouble(literal) ? Number(literal) : undefined;
  return (value: unknown): number | undefined => {
    // At most 15 digits survive a double unchanged, so comparing doubles answers as comparing decimals would.
    if (typeof value === 'number' && double !== undefined) return value - double;
    const text = canonicalDecimal(String(value));
    return text === undefined ? undefined : compareDecimals(text, literal);
  };
}

function instantComparator(literal: Extract<Value, { kind: 'datetime' }>) {
  return (value: unknown): number | undefined => {
    const instant = typeof value === 'string' ? readInstant(value) : undefined;
    return instant === undefined ? undefined : compareInstants(instant, literal);
  };
}

function compileMembership(field: PushedField, values: readonly Value[], negated: boolean) {
  const comparators = values.map((value) => comparator(field, value));
  const listed = textSet(field, values);
  if (listed !== undefined) return (value: unknown) => listed(value) !== negated;
  return (value: unknown) => {
    const orders = comparators.map((compare) => compare(value));
    if (orders.includes(undefined)) return false;
    return orders.includes(0) !== negated;
  };
}

/** A long list of texts is a set, not a walk. */
function textSet(field: PushedField, values: readonly Value[]): ((value: unknown) => boolean) | undefined {
  const fold = folder(field);
  const texts = values.flatMap((value) => (value.kind === 'string' ? [fold(value.value)] : []));
  if (texts.length < values.length) return undefined;
  const set = new Set(texts);
  return (value) => set.has(fold(String(value)));
}

/** The order of two values of a field, nulls last when ascending, as in PostgreSQL. */
export function compareValues(field: PushedField): (a: unknown, b: unknown) => number {
  const fold = folder(field);
  const compare = ORDERS[field.type](fold);
  return (a, b) => {
    if (a == null || b == null) return Number(a == null) - Number(b == null);
    return compare(a, b);
  };
}

type Compare = (a: unknown, b: unknown) => number;

const textOrder =
  (fold: (text: string) => string): Compare =>
  (a, b) =>
    compareText(fold(String(a)), fold(String(b)));

const numberOrder = (): Compare => (a, b) => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareDecimals(canonicalDecimal(String(a)) ?? '0', canonicalDecimal(String(b)) ?? '0');
};

const ORDERS: Readonly<Record<PushedField['type'], (fold: (text: string) => string) => Compare>> = {
  string: textOrder,
  number: numberOrder,
  integer: numberOrder,
  boolean: () => (a, b) => Number(a) - Number(b),
  date: textOrder,
  datetime: () => (a, b) => {
    const [x, y] = [readInstant(String(a)), readInstant(String(b))];
    return x === undefined || y === undefined ? 0 : compareInstants(x, y);
  },
  object: () => () => 0,
  array: () => () => 0,
};
