import { completeId } from './ids.ts';
import { resolveField, type Scope } from './paths.ts';
import { Problem } from './problem.ts';
import { type FieldSchema, type Row, readField } from './schema.ts';
import type { Expression, Literal } from './statement.ts';

type Test = (row: Row) => boolean;

/**
 * Compiles a condition under SOQL's rules: `!=`, NOT IN and NOT find records without a value, the comparisons of order do not;
 * text compares without case unless the field is case-sensitive, LIKE always does; an empty text is null.
 * @throws Problem 400 for unknown or unfilterable fields, and for literals that the field's type cannot be compared with.
 */
export function compileCondition(expression: Expression, scope: Scope): Test {
  switch (expression.kind) {
    case 'and': {
      const tests = expression.operands.map((operand) => compileCondition(operand, scope));
      return (row) => tests.every((test) => test(row));
    }
    case 'or': {
      const tests = expression.operands.map((operand) => compileCondition(operand, scope));
      return (row) => tests.some((test) => test(row));
    }
    case 'not': {
      const test = compileCondition(expression.operand, scope);
      return (row) => !test(row);
    }
    case 'test':
      return compileTest(expression, resolveField(expression.field, scope), scope.fold);
  }
}

function compileTest(
  { operator, literals }: Extract<Expression, { kind: 'test' }>,
  [name, field]: readonly [string, FieldSchema],
  fold: Fold,
): Test {
  if (field.unfilterable === true) {
    throw new Problem(400, 'INVALID_FIELD', `field '${name}' can not be filtered in a query call`);
  }
  const read = (row: Row) => readField(row, name, field);
  if (operator === 'LIKE' || operator === 'NOT LIKE') return compileLike(name, field, { literals, read, fold });
  const keys = literals.map((literal) => readLiteral(name, field, literal, fold));
  const keyOf = (row: Row) => toKey(field, read(row), fold);
  return COMPARE[operator]?.(keys, keyOf) ?? refuse(name, `${operator} is not simulated`);
}

type Fold = Scope['fold'];
type Key = string | bigint | boolean | null;

const COMPARE: Readonly<Record<string, (keys: readonly Key[], keyOf: (row: Row) => Key) => Test>> = {
  '=':
    ([key], keyOf) =>
    (row) =>
      keyOf(row) === key,
  '!=':
    ([key], keyOf) =>
    (row) =>
      keyOf(row) !== key,
  IN: (keys, keyOf) => (row) => keys.includes(keyOf(row)),
  'NOT IN': (keys, keyOf) => (row) => !keys.includes(keyOf(row)),
  '<': ordered((a, b) => a < b),
  '<=': ordered((a, b) => a <= b),
  '>': ordered((a, b) => a > b),
  '>=': ordered((a, b) => a >= b),
};

function ordered(accepts: (a: NonNullable<Key>, b: NonNullable<Key>) => boolean) {
  return ([key]: readonly Key[], keyOf: (row: Row) => Key): Test =>
    (row) => {
      const value = keyOf(row);
      return value !== null && key != null && accepts(value, key);
    };
}

function refuse(name: string, why: string): never {
  throw new Problem(400, 'INVALID_FIELD', `value of filter criterion for field '${name}' ${why}`);
}

const TEXT_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox', 'picklist', 'multipicklist']);
const ID_TYPES = new Set(['id', 'reference']);
const NUMBER_TYPES = new Set(['double', 'currency', 'percent']);
const MAX_STRING_LENGTH = 4000;

function readLiteral(name: string, field: FieldSchema, { type, text }: Literal, fold: Fold): Key {
  // `= null` on a boolean finds the false ones.
  if (type === 'NULL') return field.type === 'boolean' ? false : null;
  if (TEXT_TYPES.has(field.type)) return foldFor(field, readString(name, type, text), fold);
  if (ID_TYPES.has(field.type)) return readId(readString(name, type, text));
  if (NUMBER_TYPES.has(field.type)) return readNumber(name, type, text);
  switch (field.type) {
    case 'int':
      return type === 'INTEGER' && isInt(text) ? scale(text) : refuse(name, 'must be of type int');
    case 'boolean':
      return type === 'BOOLEAN' ? text.toUpperCase() === 'TRUE' : refuse(name, 'must be of type boolean');
    case 'date':
      return type === 'DATE' && isInRange(text)
        ? text
        : refuse(name, 'must be of type date and not enclosed in quotes');
    case 'datetime':
      return type === 'DATETIME' && isInRange(text)
        ? BigInt(Date.parse(text))
        : refuse(name, 'must be of type dateTime and not enclosed in quotes');
    default:
      return refuse(name, `of type ${field.type} cannot be compared`);
  }
}

function readString(name: string, type: string, text: string): string {
  if (type !== 'STRING') return refuse(name, 'must be of type string and should be enclosed in quotes');
  const value = unescapeString(text);
  return value.length <= MAX_STRING_LENGTH ? value : refuse(name, `is longer than ${MAX_STRING_LENGTH} characters`);
}

function readId(text: string): string {
  const id = completeId(text);
  if (id === undefined) throw new Problem(400, 'INVALID_QUERY_FILTER_OPERATOR', `invalid ID field: ${text}`);
  return id;
}

function readNumber(name: string, type: string, text: string): bigint {
  const isNumber = type === 'INTEGER' || type === 'DECIMAL';
  const digits = text.replace(/[^0-9]/g, '').replace(/^0+/, '');
  return isNumber && digits.length <= 18 ? scale(text) : refuse(name, 'must be a number of at most 18 digits');
}

function isInt(text: string): boolean {
  return BigInt.asIntN(32, BigInt(text)) === BigInt(text);
}

function isInRange(text: string): boolean {
  return text >= '1700-01-01' && text.slice(0, 10) <= '4000-12-31';
}

const PLACES = 30;

/** A decimal as a whole number of its last place. */
function scale(text: string): bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const magnitude = BigInt(`${whole}${fraction}`) * 10n ** BigInt(PLACES - fraction.length + Number(exponent));
  return sign === '-' ? -magnitude : magnitude;
}

/** What a value compares by. */
export function toKey(field: FieldSchema, value: unknown, fold: Fold): Key {
  if (value === null || value === undefined || value === '') return null;
  if (field.type === 'datetime') return BigInt(Date.parse(String(value)));
  if (typeof value === 'number') return scale(String(value));
  if (typeof value === 'boolean') return value;
  return TEXT_TYPES.has(field.type) ? foldFor(field, String(value), fold) : String(value);
}

function foldFor(field: FieldSchema, text: string, fold: Fold): string | null {
  const folded = field.caseSensitive === true ? text : fold(text);
  return folded === '' ? null : folded;
}

const LIKE_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox']);

interface LikeTest {
  readonly literals: readonly Literal[];
  readonly read: (row: Row) => unknown;
  readonly fold: Fold;
}

function compileLike(name: string, field: FieldSchema, { literals, read, fold }: LikeTest): Test {
  if (!LIKE_TYPES.has(field.type)) {
    throw new Problem(400, 'INVALID_QUERY_FILTER_OPERATOR', `invalid operator on ${field.type} field: ${name}`);
  }
  const [literal] = literals;
  if (literal?.type !== 'STRING') return refuse(name, 'must be of type string and should be enclosed in quotes');
  const pattern = toPattern(literal.text, fold);
  return (row) => {
    const value = read(row);
    return typeof value === 'string' && pattern.test(fold(value));
  };
}

const UNESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const ESCAPE = /\\(?:u([0-9a-f]{4})|(.))|[^\\]/gisu;

function unescapeString(quoted: string): string {
  return quoted.slice(1, -1).replace(ESCAPE, (written, code?: string, character?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return character === undefined ? written : unescapeCharacter(character, /['"\\]/);
  });
}

/** @throws Problem 400 for a backslash in front of anything else. */
function unescapeCharacter(character: string, allowed: RegExp): string {
  const named = UNESCAPED[character.toLowerCase()];
  if (named !== undefined) return named;
  if (allowed.test(character)) return character;
  throw new Problem(400, 'MALFORMED_QUERY', `Invalid string literal: illegal escape \\${character}`);
}

/** In a pattern `%` and `_` may be escaped too, and mean something when they are not. */
function toPattern(quoted: string, fold: Fold): RegExp {
  const source = fold(quoted.slice(1, -1)).replace(ESCAPE, (written, code?: string, character?: string) => {
    if (written === '%') return '.*';
    if (written === '_') return '.';
    const plain = code === undefined ? character && unescapeCharacter(character, /['"\\%_]/) : unescapeCode(code);
    return (plain ?? written).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 'su');
}

function unescapeCode(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}
