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
import { type Field, OBJECTS, type SObject } from './schema.ts';
import type { Expression, SoqlLiteral } from './statement.ts';

/** Where the fields of a statement are looked up. */
export interface Scope {
  readonly object: SObject;
  readonly findRow: (object: string, id: string) => TableRow | undefined;
  /** What texts compare by, apart from those that tell cases apart. */
  readonly fold: (text: string) => string;
}

/**
 * A field of the object, or by a path (`Account.Name`) one of its parent. Names ignore case.
 * @throws Fault 400
 */
export function resolveField(written: string, scope: Scope): Field {
  const { object, findRow } = scope;
  const [, relationship, rest = ''] = /^([^.]*)\.(.*)$/.exec(written) ?? [];
  const isSame = (name: string | null, other: string) => name?.toLowerCase() === other.toLowerCase();
  if (relationship === undefined) {
    const found = Object.values(object.fields).find(({ name }) => isSame(name, written));
    if (found !== undefined) return found;
    throw invalidField(
      `No such column '${written}' on entity '${object.name}'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.`,
    );
  }
  const reference = Object.values(object.fields).find((field) => isSame(field.relationshipName, relationship));
  const parent = OBJECTS[reference?.referenceTo[0] ?? ''];
  if (reference === undefined || parent === undefined) {
    throw invalidField(`Didn't understand relationship '${relationship}' in field path.`);
  }
  const field = resolveField(rest, { ...scope, object: parent });
  const read = (row: TableRow) => {
    const found = findRow(parent.name, String(row[reference.name]));
    return found === undefined ? null : field.read(found);
  };
  return { ...field, name: `${reference.relationshipName}.${field.name}`, read };
}

/**
 * Compiles a condition under SOQL's rules: `!=`, NOT IN and NOT find records without a value, the comparisons of order do not;
 * text compares without case unless the field is case-sensitive, LIKE always does; an empty text is null.
 * @throws Fault 400 for unknown or unfilterable fields, and for literals that the field's type cannot be compared with.
 */
export function compileCondition(expression: Expression, scope: Scope): (row: TableRow) => boolean {
  const fields = new Map<string, FilterField>();
  return compileFilter(toFilter(expression, scope, fields), {
    field: (name) => fields.get(name),
    ofNull: { ...OF_NULL, LIKE: false },
  });
}

const OF_NULL = {
  '=': false,
  '!=': true,
  '<': false,
  '<=': false,
  '>': false,
  '>=': false,
  IN: false,
  'NOT IN': true,
} as const;

function isComparison(operator: string): operator is keyof typeof OF_NULL {
  return Object.hasOwn(OF_NULL, operator);
}

function toFilter(expression: Expression, scope: Scope, fields: Map<string, FilterField>): FilterTree {
  const inside = (operand: Expression) => toFilter(operand, scope, fields);
  if (expression.kind === 'not') return { kind: 'not', operand: inside(expression.operand) };
  if (expression.kind !== 'test') return { ...expression, operands: expression.operands.map(inside) };
  const { operator, literals } = expression;
  const field = resolveField(expression.field, scope);
  if (!field.filterable) throw invalidField(`field '${field.name}' can not be filtered in a query call`);
  // LIKE ignores cases on fields that tell them apart otherwise.
  const fold = operator === 'LIKE' ? scope.fold : foldOf(field, scope);
  const key = `${field.name} ${operator === 'LIKE'}`;
  fields.set(key, comparedField(field, fold));
  const test = (made: FilterTest['operator'], values: readonly FilterLiteral[] = []): FilterTest => ({
    kind: 'test',
    field: key,
    operator: made,
    values,
  });
  if (operator === 'LIKE') return test(operator, [readPattern(field, literals[0])]);
  if (!isComparison(operator)) throw unfit(field, `${operator} is not simulated`);
  const values = literals.map((literal) => readLiteral(field, literal, fold));
  const known = values.filter((value) => value !== null);
  const ofKnown = known.length === 0 ? [] : [test(operator, known)];
  if (known.length === values.length) return { kind: 'and', operands: ofKnown };
  if (/[<>]/.test(operator)) return { kind: 'or', operands: [] };
  return OF_NULL[operator]
    ? { kind: 'and', operands: [test('IS NOT NULL'), ...ofKnown] }
    : { kind: 'or', operands: [test('IS NULL'), ...ofKnown] };
}

function invalidField(message: string): Fault {
  return new Fault(400, 'INVALID_FIELD', message);
}

function invalidOperator(message: string): Fault {
  return new Fault(400, 'INVALID_QUERY_FILTER_OPERATOR', message);
}

function unfit({ name }: Field, why: string): Fault {
  return invalidField(`value of filter criterion for field '${name}' ${why}`);
}

const TEXT_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox', 'picklist', 'multipicklist']);
const LIKE_TYPES = new Set(['string', 'textarea', 'phone', 'url', 'email', 'combobox']);
const FILTER_TYPES: Readonly<Record<string, FilterField['type']>> = {
  double: 'number',
  currency: 'number',
  percent: 'number',
  int: 'number',
  boolean: 'boolean',
  datetime: 'datetime',
};
const MAX_STRING_LENGTH = 4000;

type Fold = Scope['fold'];

/** What values of a field compare by. */
export function foldOf({ type, caseSensitive }: Field, { fold }: Pick<Scope, 'fold'>): Fold {
  return TEXT_TYPES.has(type) && !caseSensitive ? fold : (text) => text;
}

/** A field as it is compared, and as records are ordered by it. An empty text is nothing. */
export function comparedField({ type, read }: Field, fold: Fold) {
  const instantOf = (value: string) => new Date(Date.parse(value)).toISOString();
  const compared = (row: TableRow): unknown => {
    const value = read(row);
    if (typeof value !== 'string') return value;
    return type === 'datetime' ? instantOf(value) : fold(value) === '' ? null : value;
  };
  return { type: FILTER_TYPES[type] ?? 'string', fold, read: compared };
}

/** What literals a type takes, how they are read, and what is said of others. */
interface Reading {
  readonly of: readonly string[];
  readonly fits?: (text: string) => boolean;
  readonly read?: (text: string) => FilterLiteral;
  readonly else: string;
}

const isInRange = (text: string) => text >= '1700-01-01' && text.slice(0, 10) <= '4000-12-31';
const NUMBER: Reading = {
  of: ['INTEGER', 'DECIMAL'],
  fits: (text) => text.replace(/[^0-9]/g, '').replace(/^0+/, '').length <= 18,
  read: (text) => text.replace(/^\+/, ''),
  else: 'must be a number of at most 18 digits',
};
const READINGS: Readonly<Record<string, Reading>> = {
  double: NUMBER,
  currency: NUMBER,
  percent: NUMBER,
  int: {
    of: ['INTEGER'],
    fits: (text) => BigInt.asIntN(32, BigInt(text)) === BigInt(text),
    else: 'must be of type int',
  },
  boolean: { of: ['BOOLEAN'], read: (text) => text.toUpperCase() === 'TRUE', else: 'must be of type boolean' },
  date: { of: ['DATE'], fits: isInRange, else: 'must be of type date and not enclosed in quotes' },
  datetime: {
    of: ['DATETIME'],
    fits: isInRange,
    read: (text) => new Date(Date.parse(text)).toISOString(),
    else: 'must be of type dateTime and not enclosed in quotes',
  },
};

function readLiteral(field: Field, literal: SoqlLiteral, fold: Fold): FilterLiteral {
  const { type, text } = literal;
  // `= null` on a boolean finds the false ones.
  if (type === 'NULL') return field.type === 'boolean' ? false : null;
  const isId = field.type === 'id' || field.type === 'reference';
  if (isId || TEXT_TYPES.has(field.type)) {
    const value = readString(field, literal);
    if (!isId) return fold(value) === '' ? null : value;
    const id = completeId(value);
    if (id === undefined) throw invalidOperator(`invalid ID field: ${value}`);
    return id;
  }
  const reading = READINGS[field.type];
  if (reading === undefined) throw unfit(field, `of type ${field.type} cannot be compared`);
  if (!reading.of.includes(type) || reading.fits?.(text) === false) throw unfit(field, reading.else);
  return reading.read?.(text) ?? text;
}

function readString(field: Field, { type, text }: SoqlLiteral): string {
  if (type !== 'STRING') throw unfit(field, 'must be of type string and should be enclosed in quotes');
  const value = unescapeText(text, /['"\\]/, (character) => character);
  if (value.length > MAX_STRING_LENGTH) throw unfit(field, `is longer than ${MAX_STRING_LENGTH} characters`);
  return value;
}

/** In a pattern `%` and `_` may be escaped too, and mean something when they are not. */
function readPattern(field: Field, literal: SoqlLiteral | undefined): string {
  if (!LIKE_TYPES.has(field.type)) throw invalidOperator(`invalid operator on ${field.type} field: ${field.name}`);
  if (literal?.type !== 'STRING') throw unfit(field, 'must be of type string and should be enclosed in quotes');
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
