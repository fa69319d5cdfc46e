import type { FieldSpec } from '#connector';
import type { Filter, Literal } from '../src/where/ast.ts';
import type { Row } from './target.ts';

/**
 * The result of a filter for a row: SQL's three values, where `undefined` is unknown. `evaluate` is written from the definition of the
 * language, and shares no code with `src/where`.
 */
export type Truth = boolean | undefined;

/** The fields of an object by name. */
export type Fields = Readonly<Record<string, FieldSpec>>;

/** Evaluates a filter for a row. */
export function evaluate(filter: Filter, row: Row, fields: Fields): Truth {
  switch (filter.kind) {
    case 'and':
      return every(filter.operands.map((operand) => evaluate(operand, row, fields)));
    case 'or':
      return not(every(filter.operands.map((operand) => not(evaluate(operand, row, fields)))));
    case 'not':
      return not(evaluate(filter.operand, row, fields));
    case 'isNull':
      return isMissing(readField(row, filter.field.name)) !== filter.negated;
    default:
      return evaluatePredicate(filter, row, fields);
  }
}

function evaluatePredicate(
  filter: Extract<Filter, { kind: 'compare' | 'in' | 'like' | 'between' }>,
  row: Row,
  fields: Fields,
): Truth {
  const { name } = filter.field;
  const value = readField(row, name);
  if (isMissing(value)) return undefined;
  const spec = fields[name];
  if (spec === undefined) throw new Error(`There is no field '${name}'.`);
  const order = (literal: Literal) => compareTo(spec, value, literal);
  switch (filter.kind) {
    case 'compare':
      return COMPARISONS[filter.operator](order(filter.value));
    case 'in':
      return filter.values.some((literal) => order(literal) === 0) !== filter.negated;
    case 'like':
      return likeToRegExp(fold(spec, textOf(filter.pattern))).test(fold(spec, String(value))) !== filter.negated;
    case 'between':
      return (order(filter.low) >= 0 && order(filter.high) <= 0) !== filter.negated;
  }
}

function every(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(undefined) ? undefined : true;
}

function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Returns the value of a field. Dots in the name lead into nested objects. */
export function readField(row: Row, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, key) => (isMissing(value) ? value : Reflect.get(Object(value), key)), row);
}

const COMPARISONS = {
  '=': (order: number) => order === 0,
  '!=': (order: number) => order !== 0,
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
};

function textOf(literal: Literal): string {
  return literal.kind === 'boolean' ? String(literal.value) : literal.text;
}

function compareTo(spec: FieldSpec, value: unknown, literal: Literal): number {
  return compareAs(spec, String(value), textOf(literal));
}

/** Compares two values of a field, given as text, and returns a number as for `sort`. */
export function compareAs(spec: FieldSpec, left: string, right: string): number {
  switch (spec.type) {
    case 'number':
    case 'integer':
      return sign(scaled(left) - scaled(right));
    case 'datetime':
      return sign(nanoseconds(left) - nanoseconds(right));
    case 'boolean':
      return left.toLowerCase() === right.toLowerCase() ? 0 : 1;
    case 'date':
      return left < right ? -1 : Number(left > right);
    default:
      // The bytes of UTF-8 have the order of code points.
      return Buffer.compare(Buffer.from(fold(spec, left)), Buffer.from(fold(spec, right)));
  }
}

/** Folds case with Unicode's simple case folding, in which one character becomes one character. */
function fold({ collation }: FieldSpec, text: string): string {
  return collation === 'ci' ? foldText(text) : text;
}

const foldText = remember((text) => Array.from(text, foldCharacter).join(''));

function foldCharacter(character: string): string {
  // The Turkish letters equal only themselves.
  if (character === 'ı' || character === 'İ') return character;
  const single = (changed: string, otherwise: string) => ([...changed].length === 1 ? changed : otherwise);
  return single(single(character.toUpperCase(), character).toLowerCase(), character);
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Number of decimals for comparisons. It exceeds that of any number in these tests. */
const DIGITS = 60;

const scaled = remember((text): bigint => {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.trim());
  if (match === null) throw new Error(`'${text}' is not a number.`);
  const [, minus, whole = '', fraction = '', exponent = '0'] = match;
  const magnitude = BigInt(`${whole}${fraction}`) * 10n ** BigInt(DIGITS - fraction.length + Number(exponent));
  return minus === '-' ? -magnitude : magnitude;
});

const nanoseconds = remember((text): bigint => {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text);
  if (match === null) throw new Error(`'${text}' is not an instant.`);
  const [, day, time = '00:00', second = '00', fraction = '', zone = 'Z'] = match;
  const offset = zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2').toUpperCase();
  return (
    BigInt(Date.parse(`${day}T${time}:${second}${offset}`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
  );
});

/** Converts a pattern whose case is folded already. */
const likeToRegExp = remember((pattern): RegExp => {
  const source = pattern.replace(/\\?./gsu, (token) => {
    if (token === '%') return '.*';
    if (token === '_') return '.';
    return escapeForRegExp(token.length > 1 ? token.replace(/^\\/, '') : token);
  });
  return new RegExp(`^${source}$`, 'su');
});

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

const MOST_REMEMBERED = 20_000;

/** Remembers the results of a function, because every filter is evaluated for the same rows. */
function remember<Result>(compute: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const result = compute(text);
    if (known.size === MOST_REMEMBERED) known.clear();
    known.set(text, result);
    return result;
  };
}
