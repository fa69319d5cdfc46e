import {
  compileFilter,
  escapePattern,
  Fault,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  type TableRow,
} from '#connector/simulator';
import { completeId } from './ids.ts';
import { resolveField, type Scope } from './paths.ts';
import { type FieldSchema, readField } from './schema.ts';
import type { Expression, SoqlLiteral } from './statement.ts';

/**
 * Compiles a condition under SOQL's rules: `!=`, NOT IN and NOT find records without a value, the comparisons of order do not;
 * text compares without case unless the field is case-sensitive, LIKE always does; an empty text is null.
 * @throws Fault 400 for unknown or unfilterable fields, and for literals that the field's type cannot be compared with.
 */
export function compileCondition(expression: Expression, scope: Scope): (row: TableRow) => boolean {
  const fields = new Map<string, FilterField>();
  return compileFilter(toFilter(expression, scope, fields), { field: (name) => fields.get(name), ofNull: OF_NULL });
}

const OF_NULL = {
  '=': false,
  '!=': true,
  '<': false,
  '<=': false,
  '>': false,
  '>=': false,
  LIKE: false,
  IN: false,
  'NOT IN': true,
} as const;

function toFilter(expression: Expression, scope: Scope, fields: Map<string, FilterField>): FilterTree {
  if (expression.kind === 'not') return { kind: 'not', operand: toFilter(expression.operand, scope, fields) };
  if (expression.kind !== 'test')
    return { ...expression, operands: expression.operands.map((operand) => toFilter(operand, scope, fields)) };
  const [path, field] = resolveField(expression.field, scope);
  if (field.unfilterable === true) throw invalidField(`field '${path}' can not be filtered in a query call`);
  // LIKE ignores cases on fields that tell them apart otherwise.
  const isLike = expression.operator === 'LIKE';
  const key = isLike ? `${path} LIKE` : path;
  const fold = isLike ? scope.fold : foldOf(field, scope.fold);
  fields.set(key, comparedField(path, field, fold));
  return toTest(expression, { path, key, field, fold });
}

/** A field as it is compared, and as records are ordered by it. */
export function comparedField(path: string, field: FieldSchema, fold = (text: string) => text) {
  return { type: typeOf(field), fold, read: (row: TableRow) => toComparable(field, readField(row, path, field), fold) };
}

interface Place {
  readonly path: string;
  /** The field's name in the filter. */
  readonly key: string;
  readonly field: FieldSchema;
  readonly fold: Fold;
}

type Fold = Scope['fold'];

function toTest({ operator, literals }: Extract<Expression, { kind: 'test' }>, place: Place): FilterTree {
  const test = (made: FilterTest['operator'], values: readonly FilterLiteral[]): FilterTest => ({
    kind: 'test',
    field: place.key,
    operator: made,
    values,
  });
  if (operator === 'LIKE') return test('LIKE', [readPattern(place, literals[0])]);
  const values = literals.map((literal) => readLiteral(place, literal));
  const known = values.filter((value) => value !== null);
  const [isNull, isNotNull] = [test('IS NULL', []), test('IS NOT NULL', [])];
  const hasNull = known.length < values.length;
  switch (operator) {
    case '=':
      return hasNull ? isNull : test('=', known);
    case '!=':
      return hasNull ? isNotNull : test('!=', known);
    case 'IN':
      return { kind: 'or', operands: [...(hasNull ? [isNull] : []), ...(known.length > 0 ? [test('IN', known)] : [])] };
    case 'NOT IN':
      return {
        kind: 'and',
        operands: [...(hasNull ? [isNotNull] : []), ...(known.length > 0 ? [test('NOT IN', known)] : [])],
      };
    case '<':
    case '<=':
    case '>':
    case '>=':
      return hasNull ? { kind: 'or', operands: [] } : test(operator, known);
    default:
      return refuse(place.path, `${operator} is not simulated`);
  }
}

function invalidField(message: string): Fault {
  return new Fault(400, 'INVALID_FIELD', message);
}

function refuse(name: string, why: string): never {
  throw invalidField(`value of filter criterion for field '${name}' ${why}`);
}

const TEXT_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox', 'picklist', 'multipicklist']);
const NUMBER_TYPES = new Set(['double', 'currency', 'percent', 'int']);
const LIKE_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox']);
const MAX_STRING_LENGTH = 4000;

function typeOf({ type }: FieldSchema): FilterField['type'] {
  if (NUMBER_TYPES.has(type)) return 'number';
  return type === 'boolean' || type === 'datetime' ? type : 'string';
}

export function foldOf({ type, caseSensitive }: FieldSchema, fold: Fold): Fold {
  return TEXT_TYPES.has(type) && caseSensitive !== true ? fold : (text) => text;
}

/** Null for nothing, which an empty text is too. */
function toComparable({ type }: FieldSchema, value: unknown, fold: Fold): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (type === 'datetime') return new Date(Date.parse(String(value))).toISOString();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return fold(String(value)) === '' ? null : String(value);
}

type Reader = (name: string, type: string, text: string) => FilterLiteral;

const READERS: Readonly<Record<string, Reader>> = {
  id: readId,
  reference: readId,
  int: (name, type, text) =>
    type === 'INTEGER' && BigInt.asIntN(32, BigInt(text)) === BigInt(text) ? text : refuse(name, 'must be of type int'),
  double: readNumber,
  currency: readNumber,
  percent: readNumber,
  boolean: (name, type, text) =>
    type === 'BOOLEAN' ? text.toUpperCase() === 'TRUE' : refuse(name, 'must be of type boolean'),
  date: (name, type, text) =>
    type === 'DATE' && isInRange(text) ? text : refuse(name, 'must be of type date and not enclosed in quotes'),
  datetime: (name, type, text) =>
    type === 'DATETIME' && isInRange(text)
      ? new Date(Date.parse(text)).toISOString()
      : refuse(name, 'must be of type dateTime and not enclosed in quotes'),
};

function readLiteral({ path, field, fold }: Place, { type, text }: SoqlLiteral): FilterLiteral {
  // `= null` on a boolean finds the false ones.
  if (type === 'NULL') return field.type === 'boolean' ? false : null;
  if (TEXT_TYPES.has(field.type)) {
    const value = readString(path, type, text);
    return fold(value) === '' ? null : value;
  }
  return READERS[field.type]?.(path, type, text) ?? refuse(path, `of type ${field.type} cannot be compared`);
}

function readString(name: string, type: string, text: string): string {
  if (type !== 'STRING') return refuse(name, 'must be of type string and should be enclosed in quotes');
  const value = unescapeText(text, /['"\\]/, (character) => character);
  return value.length <= MAX_STRING_LENGTH ? value : refuse(name, `is longer than ${MAX_STRING_LENGTH} characters`);
}

function readId(name: string, type: string, text: string): string {
  const written = readString(name, type, text);
  const id = completeId(written);
  if (id === undefined) throw new Fault(400, 'INVALID_QUERY_FILTER_OPERATOR', `invalid ID field: ${written}`);
  return id;
}

function readNumber(name: string, type: string, text: string): string {
  const isNumber = type === 'INTEGER' || type === 'DECIMAL';
  const digits = text.replace(/[^0-9]/g, '').replace(/^0+/, '');
  return isNumber && digits.length <= 18
    ? text.replace(/^\+/, '')
    : refuse(name, 'must be a number of at most 18 digits');
}

function isInRange(text: string): boolean {
  return text >= '1700-01-01' && text.slice(0, 10) <= '4000-12-31';
}

/** In a pattern `%` and `_` may be escaped too, and mean something when they are not. */
function readPattern({ path, field }: Place, literal: SoqlLiteral | undefined): string {
  if (!LIKE_TYPES.has(field.type)) {
    throw new Fault(400, 'INVALID_QUERY_FILTER_OPERATOR', `invalid operator on ${field.type} field: ${path}`);
  }
  if (literal?.type !== 'STRING') return refuse(path, 'must be of type string and should be enclosed in quotes');
  return unescapeText(literal.text, /['"\\%_]/, escapePattern);
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * A quoted text without its quotes and escapes.
 * @param plain what becomes of a character that was escaped
 * @throws Fault 400 for a backslash in front of anything else
 */
function unescapeText(quoted: string, allowed: RegExp, plain: (character: string) => string): string {
  return quoted.slice(1, -1).replace(/\\(?:u([0-9a-f]{4})|(.))/gisu, (_, code?: string, character = '') => {
    if (code !== undefined) return plain(String.fromCharCode(Number.parseInt(code, 16)));
    const named = NAMED[character.toLowerCase()];
    if (named !== undefined) return named;
    if (allowed.test(character)) return plain(character);
    throw new Fault(400, 'MALFORMED_QUERY', `Invalid string literal: illegal escape \\${character}`);
  });
}
