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
import { type Field, memberType, OBJECTS, type SObject } from './schema.ts';
import type { Expression, SoqlLiteral } from './statement.ts';

/** The object of a statement, and how its texts compare. */
export interface Scope {
  readonly object: SObject;
  readonly findRow: (object: string, id: string) => TableRow | undefined;
  /** Folds texts before a comparison, except those of case-sensitive fields. */
  readonly fold: (text: string) => string;
}

/**
 * Returns a field of the object, or a field of its parent for a path such as `Account.Name`. Names ignore case.
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
 * Compiles a condition by the rules of SOQL: `!=`, NOT IN and NOT find records without a value, but comparisons by order do not. Text
 * ignores case unless the field is case-sensitive, and LIKE always ignores case. An empty text is null.
 * @throws Fault 400 for unknown or unfilterable fields, and for literals that cannot be compared with the field's type
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
  // LIKE ignores case even on case-sensitive fields.
  const fold = operator === 'LIKE' ? scope.fold : foldOf(field, scope);
  const key = `${field.name} ${operator === 'LIKE'}`;
  fields.set(key, comparedField(field, fold));
  const test = (made: FilterTest['operator'], values: readonly FilterLiteral[] = []): FilterTest => ({
    kind: 'test',
    field: key,
    operator: made,
    values,
  });
  if (operator === 'LIKE') {
    if (!LIKE_TYPES.has(field.type)) throw invalidOperator(`invalid operator on ${field.type} field: ${field.name}`);
    return test(
      operator,
      literals.map((literal) => readString(field, literal, true)),
    );
  }
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
const MAX_STRING_LENGTH = 4000;

type Fold = Scope['fold'];

/** Returns a function that folds values of the field before a comparison. */
export function foldOf({ type, caseSensitive }: Field, { fold }: Pick<Scope, 'fold'>): Fold {
  return TEXT_TYPES.has(type) && !caseSensitive ? fold : (text) => text;
}

/** Returns a field as conditions compare it, and as orders sort by it. An empty text is null. */
export function comparedField({ type, read }: Field, fold: Fold) {
  const kind = memberType(type);
  const compared = (row: TableRow): unknown => {
    const value = read(row);
    if (typeof value !== 'string') return value;
    return kind === 'datetime' ? readInstant(value) : fold(value) === '' ? null : value;
  };
  // Days and ids sort as texts.
  const isText = kind === 'reference' || kind === 'array' || kind === 'object' || kind === 'date';
  return { type: isText ? ('string' as const) : kind, fold, read: compared };
}

const readInstant = (text: string) => new Date(Date.parse(text)).toISOString();

/** The literals that a type accepts, and how they are read. */
interface Reading {
  readonly of: readonly string[];
  readonly fits?: (text: string) => boolean;
  readonly read?: (text: string) => FilterLiteral;
}

const isInRange = (text: string) => text >= '1700-01-01' && text.slice(0, 10) <= '4000-12-31';
const NUMBER: Reading = {
  of: ['INTEGER', 'DECIMAL'],
  fits: (text) => text.replace(/[^0-9]/g, '').replace(/^0+/, '').length <= 18,
  read: (text) => text.replace(/^\+/, ''),
};
const READINGS: Readonly<Record<string, Reading>> = {
  double: NUMBER,
  currency: NUMBER,
  percent: NUMBER,
  int: { of: ['INTEGER'], fits: (text) => BigInt.asIntN(32, BigInt(text)) === BigInt(text) },
  boolean: { of: ['BOOLEAN'], read: (text) => text.toUpperCase() === 'TRUE' },
  date: { of: ['DATE'], fits: isInRange },
  datetime: { of: ['DATETIME'], fits: isInRange, read: readInstant },
};

function readLiteral(field: Field, literal: SoqlLiteral, fold: Fold): FilterLiteral {
  const { type, text } = literal;
  // `= null` on a boolean field finds the records with false.
  if (type === 'NULL') return field.type === 'boolean' ? false : null;
  if (field.type === 'id' || field.type === 'reference') {
    const id = completeId(readString(field, literal));
    if (id === undefined) throw invalidOperator(`invalid ID field: ${text}`);
    return id;
  }
  if (TEXT_TYPES.has(field.type)) {
    const value = readString(field, literal);
    return fold(value) === '' ? null : value;
  }
  const { of = [], fits = () => true, read = String } = READINGS[field.type] ?? {};
  if (!of.includes(type) || !fits(text)) throw unfit(field, `must be of type ${field.type}`);
  return read(text);
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * Returns a quoted text without its quotes and escapes. In a pattern `%` and `_` are wildcards unless they are escaped.
 * @throws Fault 400 for a literal that is no text, for a text that is too long, and for an unknown escape sequence
 */
function readString(field: Field, { type, text }: SoqlLiteral, isPattern = false): string {
  if (type !== 'STRING') throw unfit(field, 'must be of type string and should be enclosed in quotes');
  const [allowed, plain] = isPattern ? [/['"\\%_]/, escapePattern] : [/['"\\]/, String];
  const value = text.slice(1, -1).replace(/\\(?:u([0-9a-f]{4})|(.))/gisu, (_, code?: string, character = '') => {
    if (code !== undefined) return plain(String.fromCharCode(Number.parseInt(code, 16)));
    const named = NAMED[character.toLowerCase()];
    if (named !== undefined) return named;
    if (allowed.test(character)) return plain(character);
    throw new Fault(400, 'MALFORMED_QUERY', `Invalid string literal: illegal escape \\${character}`);
  });
  if (isPattern || value.length <= MAX_STRING_LENGTH) return value;
  throw unfit(field, `is longer than ${MAX_STRING_LENGTH} characters`);
}
