import {
  compileFilter,
  escapePattern,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  type TableRow,
} from '#connector/simulator';
import type { Expression } from './parse-filter.ts';
import { problem } from './problem.ts';
import type { Quirks } from './quirks.ts';
import { CATEGORIES, type EntitySchema, typeOfPath } from './schema.ts';

/** How text compares: OData leaves it to the service. */
export type Collation = 'binary' | 'ignoring case';

export interface Scope {
  readonly properties: EntitySchema['properties'];
  readonly collation: Collation;
  readonly quirks: Quirks;
}

/** The literal type that each property type compares with. */
const COMPARABLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    text: ['Edm.String'],
    boolean: ['Edm.Boolean'],
    number: ['Edm.Byte', 'Edm.Int16', 'Edm.Int32', 'Edm.Int64', 'Edm.Decimal', 'Edm.Double'],
    date: ['Edm.Date'],
    datetime: ['Edm.DateTimeOffset'],
    time: ['Edm.TimeOfDay'],
    guid: ['Edm.Guid'],
    enum: ['Demo.Category'],
    structure: ['Demo.Package', 'Demo.Place'],
  }).flatMap(([literal, types]) => types.map((type): [string, string] => [type, literal])),
);

/**
 * Compiles a filter under OData's rules: `eq` and `ne` take null for a value, the other comparisons are false for null, and
 * functions of null are null. Source: OData URL Conventions 4.01, section 5.1.1.1. A property stands in front of a literal.
 * @throws Fault 400 for unknown properties and types that do not compare.
 */
export function compileCondition(filter: Expression, scope: Scope): (row: TableRow) => boolean {
  const fields = new Map<string, FilterField>();
  return compileFilter(toFilter(filter, scope, fields), {
    field: (name) => fields.get(name),
    ofNull: OF_NULL,
    refuse: (message) => problem(400, message),
  });
}

const OF_NULL = { '=': false, '!=': true, '<': false, '<=': false, '>': false, '>=': false, IN: false } as const;
const NEVER: FilterTree = { kind: 'or', operands: [] };

function toFilter(expression: Expression, scope: Scope, fields: Map<string, FilterField>): FilterTree {
  if (expression.kind === 'path') return toTest('eq', [expression, TRUE], scope, fields);
  if (expression.kind !== 'call') throw problem(400, 'A filter is a comparison.');
  const { name, args } = expression;
  if (name !== 'and' && name !== 'or' && name !== 'not') return toTest(name, args, scope, fields);
  const operands = args.map((arg) => toFilter(arg, scope, fields));
  const [operand] = operands;
  return name === 'not' && operand !== undefined
    ? { kind: 'not', operand }
    : { kind: name === 'or' ? 'or' : 'and', operands };
}

const TRUE: Expression = { kind: 'literal', type: 'boolean', text: 'true' };

const OPERATORS: Readonly<Record<string, FilterTest['operator']>> = {
  eq: '=',
  ne: '!=',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  eqany: 'IN',
};

const PATTERNS: Readonly<Record<string, (part: string) => string>> = {
  contains: (part) => `%${part}%`,
  startswith: (part) => `${part}%`,
  endswith: (part) => `%${part}`,
};

function toTest(name: string, args: readonly Expression[], scope: Scope, fields: Map<string, FilterField>): FilterTree {
  const [left, right] = args;
  const pattern = Object.hasOwn(PATTERNS, name) ? PATTERNS[name] : undefined;
  const operator = pattern === undefined ? OPERATORS[name] : 'LIKE';
  if (operator === undefined) throw problem(400, `The function '${name}' is not supported.`);
  if (left?.kind !== 'path' || right === undefined) throw problem(400, 'A property stands in front of a literal.');
  const literals = right.kind === 'list' ? right.members : [right];
  for (const literal of literals) checkTypes(name, left.path, literal, scope);
  const key = `${operator} ${left.path.join('/')}`;
  const field = comparedField(left.path, scope);
  const test = (made: FilterTest['operator'], values: readonly FilterLiteral[]): FilterTest => ({
    kind: 'test',
    field: key,
    operator: made,
    values,
  });
  fields.set(
    key,
    pattern === undefined || !scope.quirks.failsOnNull ? field : { ...field, read: refuseNull(field.read) },
  );
  if (right.kind === 'null') return ofNull(operator, test);
  const values = literals.map((literal) => readLiteral(left.path, literal, scope));
  const isEnum = literals.some((literal) => literal.kind === 'literal' && literal.type === 'enum');
  if (isEnum && scope.quirks.filter === 'finds no enumeration') return NEVER;
  if (pattern === undefined) return test(operator, values);
  return scope.quirks.filter === 'finds no text' ? NEVER : test('LIKE', [pattern(readPart(values[0], scope.quirks))]);
}

function ofNull(
  operator: FilterTest['operator'],
  test: (made: FilterTest['operator'], values: readonly FilterLiteral[]) => FilterTree,
): FilterTree {
  if (operator === '=') return test('IS NULL', []);
  return operator === '!=' ? test('IS NOT NULL', []) : NEVER;
}

function readPart(value: FilterLiteral | undefined, { escapesInPatterns }: Quirks): string {
  const part = String(value);
  return escapePattern(escapesInPatterns ? part.replace(/\\(.?)/gs, '$1') : part);
}

function refuseNull(read: (row: TableRow) => unknown) {
  return (row: TableRow) => {
    const value = read(row);
    if (value === null) throw problem(400, 'A function of null cannot be evaluated.');
    return value;
  };
}

const TYPES: Readonly<Record<string, FilterField['type']>> = {
  number: 'number',
  boolean: 'boolean',
  datetime: 'datetime',
};

/**
 * A property as it is compared, and as `$orderby` orders by it.
 * @throws Fault 400 for a property that is unknown, or of a type that does not compare
 */
export function comparedField(path: readonly string[], { properties, collation, quirks }: Scope) {
  const native = typeOfPath(properties, path);
  if (native === undefined) throw problem(400, `Could not find a property named '${path.join('/')}'.`);
  const comparable = COMPARABLE.get(native);
  if (comparable === undefined) throw problem(400, `'${path.join('/')}' cannot be compared.`);
  const isKeptAsDouble = quirks.keepsDoubles === true && /^Edm\.(Decimal|Double)$/.test(native);
  const ignoresCase = comparable === 'guid' || (comparable === 'text' && collation === 'ignoring case');
  return {
    type: TYPES[comparable] ?? ('string' as const),
    fold: (text: string) => (ignoresCase ? text.toLowerCase() : text),
    read: (row: TableRow) => {
      const value = path.reduce<unknown>((inner, name) => (inner === null ? null : Object(inner)[name]), row) ?? null;
      return isKeptAsDouble && value !== null ? inDouble(String(value)) : value;
    },
  };
}

/** What a double makes of a number, in digits enough to tell it from its neighbours. */
function inDouble(text: string): string {
  return Number(text).toFixed(30);
}

function readLiteral(path: readonly string[], literal: Expression, { properties, quirks }: Scope): FilterLiteral {
  if (literal.kind === 'null') return null;
  if (literal.kind !== 'literal') throw problem(400, 'A property stands in front of a literal.');
  const { type, text } = literal;
  if (type === 'enum') return readEnum(text);
  const isFloating = /^Edm\.(Decimal|Double)$/.test(typeOfPath(properties, path) ?? '');
  return quirks.keepsDoubles === true && isFloating ? inDouble(text) : text;
}

function readEnum(text: string): string {
  const member = /^Demo\.Category\|(\w+)\|$/.exec(text)?.[1];
  if (!CATEGORIES.some((name) => name === member)) throw problem(400, `There is no enumeration member ${text}.`);
  return member ?? '';
}

const ORDERS: ReadonlySet<string> = new Set(['lt', 'le', 'gt', 'ge']);

/** Before any row is read, so that a mistake is told even when the set is empty. */
function checkTypes(name: string, path: readonly string[], literal: Expression, { properties, quirks }: Scope): void {
  if (literal.kind !== 'literal') return;
  const native = typeOfPath(properties, path) ?? '';
  const type = COMPARABLE.get(native);
  if (type !== undefined && type !== literal.type) {
    throw problem(400, `Incompatible types: ${type} and ${literal.type}.`);
  }
  const isByte = native === 'Edm.Byte' && /^-?\d+$/.test(literal.text);
  if (quirks.tellsBytesFromIntegers === true && ORDERS.has(name) && isByte) {
    throw problem(400, 'Incompatible types: Edm.Byte and Edm.SByte.');
  }
}
