import { AppError } from '../errors.ts';
import { compareDecimals, faithfulDouble } from '../numbers/decimal.ts';
import { readDecimal } from '../numbers/number-value.ts';
import type { ComparisonOperator } from './ast.ts';
import { compareText, foldText } from './collation.ts';
import { type Condition, isGroup, type Predicate, predicatesOf } from './condition.ts';
import { compareInstants, type Instant, readInstant } from './instant.ts';
import { compileLike, searchPasses } from './like.ts';
import type { LikeForm, PushedField, Value } from './model.ts';
import { type Row, readBoolean, readDate, reader, readText } from './row-values.ts';

export { type Row, reader } from './row-values.ts';

/** Returns whether a row matches. Missing, null and unreadable values are unknown, so they don't match. */
export type RowTest = (row: Row) => boolean;

type ValueTest = (value: unknown) => boolean;

/**
 * Compiles a normalised condition once, so that testing a row costs a few property reads. Nothing interrupts a test, so its work is
 * bounded. All predicates except LIKE read at most as much of a value as their literal has, or a few hundred characters. Texts that are too
 * long for the LIKE patterns of the filter are rejected.
 * @throws AppError (the test) WHERE_UNSUPPORTED for such a text
 */
export function compileCondition(condition: Condition): RowTest {
  const passes = predicatesOf(condition).reduce((sum, predicate) => sum + passesOf(predicate), 0);
  return compile(condition, Math.floor(MOST_CHARACTERS / passes));
}

/** Maximum number of characters that one test of a row reads, counted once per pass: tens of milliseconds at worst. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

function passesOf(predicate: Predicate): number {
  if (predicate.kind !== 'like') return 0;
  const searching = searchPasses(predicate.pattern);
  return searching > 0 && predicate.field.collation === 'ci' ? searching + 1 : searching;
}

function compile(condition: Condition, longest: number): RowTest {
  if (!isGroup<Condition>(condition)) return compilePredicate(condition, longest);
  const tests = condition.operands.map((operand) => compile(operand, longest));
  return condition.kind === 'and' ? allOf(tests) : anyOf(tests);
}

// Loops, because `every` and `some` cost a third of the time of a short filter.
function allOf(tests: readonly RowTest[]): RowTest {
  return (row) => {
    for (const test of tests) if (!test(row)) return false;
    return true;
  };
}

function anyOf(tests: readonly RowTest[]): RowTest {
  return (row) => {
    for (const test of tests) if (test(row)) return true;
    return false;
  };
}

function compilePredicate(predicate: Predicate, longest: number): RowTest {
  const read = reader(predicate.field.name);
  if (predicate.kind === 'isNull') {
    const { negated } = predicate;
    return (row) => (read(row) == null) !== negated;
  }
  const test = compileValueTest(predicate, longest);
  return (row) => {
    const value = read(row);
    return value != null && test(value);
  };
}

function compileValueTest(predicate: Exclude<Predicate, { kind: 'isNull' }>, longest: number): ValueTest {
  if (predicate.kind === 'compare') return compileComparison(predicate.field, predicate.operator, predicate.value);
  if (predicate.kind === 'in') return compileMembership(predicate.field, predicate.values, predicate.negated);
  return compileLikeness(predicate, longest);
}

type Likeness = Extract<Predicate, { kind: 'like' }>;

function compileLikeness({ field, pattern, negated }: Likeness, longest: number): ValueTest {
  const { collation } = field;
  const cut = END_CUTS[pattern.form];
  const parts = pattern.parts.map((part) =>
    part.kind === 'text' ? { ...part, text: foldText(part.text, collation) } : part,
  );
  const matches = compileLike({ ...pattern, text: foldText(pattern.text, collation), parts });
  return (value) => {
    const text = readText(value);
    if (text === undefined) return false;
    if (cut !== undefined) return matches(foldText(cut(text, pattern.text.length), collation)) !== negated;
    if (text.length > longest) throw tooLong(field, text, longest);
    return matches(foldText(text, collation)) !== negated;
  };
}

/** Cuts the part of a text that decides. Folding does not change the offsets of characters. */
const END_CUTS: Readonly<Partial<Record<LikeForm, (text: string, length: number) => string>>> = {
  literal: (text, length) => text.slice(0, length + 1),
  prefix: (text, length) => text.slice(0, length + 1),
  suffix: (text, length) => text.slice(-length - 1),
};

function tooLong({ name }: PushedField, text: string, longest: number): AppError {
  const message = `'${name}' of a row has ${text.length} characters. The service itself searches texts of at most ${longest} characters with the LIKE patterns of this filter. Use fewer of them, without '_' inside long ones, or patterns that the provider accepts.`;
  return new AppError('WHERE_UNSUPPORTED', message, {
    details: [{ path: '/query/where', message: `'${name}' is too long to be searched with LIKE here.` }],
  });
}

const ACCEPTS: Readonly<Record<ComparisonOperator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function compileComparison(field: PushedField, operator: ComparisonOperator, literal: Value): ValueTest {
  const compare = comparator(field, literal);
  const accepts = ACCEPTS[operator];
  return (value) => {
    const order = compare(value);
    return order !== undefined && accepts(order);
  };
}

/** Compares a row's value with a literal: negative, zero or positive; undefined when the value is not of the field's type. */
type Comparator = (value: unknown) => number | undefined;

function comparator(field: PushedField, literal: Value): Comparator {
  switch (literal.kind) {
    case 'string':
      return textComparator(literal.value, field);
    case 'number':
      return decimalComparator(literal.text);
    case 'boolean':
      return (value) => {
        const boolean = readBoolean(value);
        return boolean === undefined ? undefined : Number(boolean) - Number(literal.value);
      };
    case 'date':
      return (value) => {
        const day = readDate(value);
        return day === undefined ? undefined : compareText(day, literal.text);
      };
    case 'datetime':
      return instantComparator(literal);
  }
}

function textComparator(literal: string, { collation }: PushedField): Comparator {
  return (value) => {
    const text = readText(value);
    return text === undefined ? undefined : compareText(text, literal, collation);
  };
}

function decimalComparator(literal: string): Comparator {
  const double = faithfulDouble(literal);
  return (value) => {
    if (typeof value === 'number' && double !== undefined) return finite(value - double);
    const text = readDecimal(value);
    return text === undefined ? undefined : compareDecimals(text, literal);
  };
}

/** NaN and infinity are not decimals. */
function finite(difference: number): number | undefined {
  return Number.isFinite(difference) ? difference : undefined;
}

function instantComparator(literal: Instant): Comparator {
  return (value) => {
    const instant = typeof value === 'string' ? readInstant(value) : undefined;
    return instant === undefined ? undefined : compareInstants(instant, literal);
  };
}

/** Builds a set of keys, so that a long list costs one look-up instead of a walk. */
function compileMembership(field: PushedField, values: readonly Value[], negated: boolean): ValueTest {
  const [first] = values;
  if (first === undefined) return () => false;
  const keys = new Set(values.map((value) => literalKey(value, field)));
  const longest = Math.max(...values.map((value) => (value.kind === 'string' ? value.value.length : 0)));
  const keyOf = keyReader(field, first.kind, longest);
  return (value) => {
    const key = keyOf(value);
    return key !== undefined && keys.has(key) !== negated;
  };
}

type Key = string | boolean;

function literalKey(value: Value, { collation }: PushedField): Key {
  if (value.kind === 'string') return foldText(value.value, collation);
  if (value.kind === 'boolean') return value.value;
  return value.kind === 'datetime' ? instantKey(value) : value.text;
}

function instantKey({ epochMs, nanos }: Instant): string {
  return `${epochMs}.${nanos}`;
}

/** `longest` is the length of the longest key. A text with more characters matches none of them. */
function keyReader(
  { collation }: PushedField,
  kind: Value['kind'],
  longest: number,
): (value: unknown) => Key | undefined {
  switch (kind) {
    case 'string':
      return (value) => {
        const text = readText(value);
        return text && foldText(text.slice(0, longest + 1), collation);
      };
    case 'number':
      return readDecimal;
    case 'boolean':
      return readBoolean;
    case 'date':
      return readDate;
    case 'datetime':
      return (value) => {
        const instant = typeof value === 'string' ? readInstant(value) : undefined;
        return instant && instantKey(instant);
      };
  }
}
