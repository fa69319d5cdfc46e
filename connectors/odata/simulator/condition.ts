import {
  compileFilter,
  escapePattern,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  fault,
  type ODataExpression,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import type { Quirks } from './quirks.ts';
import { CATEGORIES, type Properties, typeOfPath } from './schema.ts';

/** The rule for comparing text, which OData leaves to the service. */
export type Collation = 'binary' | 'ignoring case';

export interface Scope {
  readonly properties: Properties;
  readonly collation: Collation;
  readonly quirks: Quirks;
}

/** The literal type to which each property type is comparable. */
const COMPARABLE: Readonly<Record<string, string>> = {
  ...{ 'Edm.String': 'text', 'Edm.Boolean': 'boolean', 'Edm.Guid': 'guid', 'Self.Category': 'enum' },
  ...{ 'Edm.Byte': 'number', 'Edm.Int16': 'number', 'Edm.Int32': 'number', 'Edm.Int64': 'number' },
  ...{ 'Edm.Decimal': 'number', 'Edm.Double': 'number', 'Self.Package': 'structure', 'Self.Place': 'structure' },
  ...{ 'Edm.Date': 'date', 'Edm.DateTimeOffset': 'datetime', 'Edm.TimeOfDay': 'time' },
};

const OF_NULL = { '=': false, '!=': true, '<': false, '<=': false, '>': false, '>=': false, IN: false } as const;

/**
 * Compiles a filter by the rules of OData: `eq` and `ne` treat null as a value, the other comparisons are false for null, and functions of
 * null are null. Source: OData URL Conventions 4.01, section 5.1.1.1. A property must stand before a literal.
 * @throws Fault 400 for unknown properties and types that do not compare
 */
export function compileCondition(filter: ODataExpression, scope: Scope): (row: TableRow) => boolean {
  const failing = {
    ...OF_NULL,
    /** The evaluator reads this property when a row has null. */
    get LIKE(): boolean {
      throw fault(400, 'A function of null cannot be evaluated.');
    },
  };
  return compileFilter(toFilter(filter, scope), {
    field: (path) => comparedField(path.split('/'), scope),
    ofNull: scope.quirks.failsOnNull === true ? failing : OF_NULL,
    refuse: (message) => fault(400, message),
  });
}

const TRUE: ODataExpression = { kind: 'literal', type: 'boolean', text: 'true' };

function toFilter(expression: ODataExpression, scope: Scope): FilterTree {
  if (expression.kind === 'path') return toTest('eq', [expression, TRUE], scope);
  if (expression.kind !== 'call') throw fault(400, 'A filter is a comparison.');
  const { name, args } = expression;
  if (name !== 'and' && name !== 'or' && name !== 'not') return toTest(name, args, scope);
  const operands = args.map((arg) => toFilter(arg, scope));
  const [operand] = operands;
  if (name === 'not' && operand !== undefined) return { kind: 'not', operand };
  return { kind: name === 'or' ? 'or' : 'and', operands };
}

const NEVER: FilterTree = { kind: 'or', operands: [] };
const OPERATORS: ReadonlyMap<string, FilterTest['operator']> = new Map(
  Object.entries({ eq: '=', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=', eqany: 'IN' } as const),
);
const PATTERNS: ReadonlyMap<string, (part: string) => string> = new Map([
  ['contains', (part) => `%${part}%`],
  ['startswith', (part) => `${part}%`],
  ['endswith', (part) => `%${part}`],
]);

function toTest(name: string, [left, right]: readonly ODataExpression[], { properties, quirks }: Scope): FilterTree {
  const pattern = PATTERNS.get(name);
  const operator = pattern === undefined ? OPERATORS.get(name) : 'LIKE';
  if (operator === undefined) throw fault(400, `The function '${name}' is not supported.`);
  if (left?.kind !== 'path' || right === undefined) throw fault(400, 'A property stands in front of a literal.');
  const test = (made: FilterTest['operator'], values: readonly FilterLiteral[]): FilterTest => ({
    ...{ kind: 'test', field: left.path.join('/'), operator: made, values },
  });
  if (right.kind === 'null') {
    if (operator === '=') return test('IS NULL', []);
    return operator === '!=' ? test('IS NOT NULL', []) : NEVER;
  }
  const type = typeOfPath(properties, left.path) ?? '';
  const literals = right.kind === 'list' ? right.members : [right];
  const values = literals.map((literal) => readLiteral(literal, { name, type, quirks }));
  if (quirks.filter === 'finds no enumeration' && COMPARABLE[type] === 'enum') return NEVER;
  if (pattern === undefined) return test(operator, values);
  if (quirks.filter === 'finds no text') return NEVER;
  const part = String(values[0]);
  return test('LIKE', [pattern(escapePattern(quirks.escapesInPatterns ? part.replace(/\\(.?)/gs, '$1') : part))]);
}

interface Comparison {
  /** Name of the operator or function in filters. */
  readonly name: string;
  /** The type of the property. */
  readonly type: string;
  readonly quirks: Quirks;
}

/**
 * Reads and checks a literal before any row is read, so that an empty list reports an error, too.
 * @throws Fault 400
 */
function readLiteral(literal: ODataExpression, { name, type, quirks }: Comparison): FilterLiteral {
  if (literal.kind === 'null') return null;
  if (literal.kind !== 'literal') throw fault(400, 'A property stands in front of a literal.');
  const { [type]: comparable = literal.type } = COMPARABLE;
  if (comparable !== literal.type) throw fault(400, `Incompatible types: ${comparable} and ${literal.type}.`);
  const isByte = type === 'Edm.Byte' && /^-?\d+$/.test(literal.text);
  if (quirks.tellsBytesFromIntegers === true && isByte && /^[lg][te]$/.test(name)) {
    throw fault(400, 'Incompatible types: Edm.Byte and Edm.SByte.');
  }
  if (literal.type === 'enum') return readEnum(literal.text);
  return isKeptAsDouble(type, quirks) ? inDouble(literal.text) : literal.text;
}

function readEnum(text: string): string {
  const member = /^Demo\.Category\|(\w+)\|$/.exec(text)?.[1] ?? '';
  if (!CATEGORIES.includes(member)) throw fault(400, `There is no enumeration member ${text}.`);
  return member;
}

function isKeptAsDouble(type: string, { keepsDoubles }: Quirks): boolean {
  return keepsDoubles === true && /^Edm\.(Decimal|Double)$/.test(type);
}

/** Returns a number as a double stores it, with enough digits to distinguish it from its neighbours. */
function inDouble(value: unknown): string {
  return Number(value).toFixed(30);
}

const TYPES: Readonly<Record<string, FilterField['type']>> = {
  ...{ number: 'number', boolean: 'boolean', datetime: 'datetime' },
};

/**
 * Returns a property as filters compare it, and as `$orderby` sorts by it.
 * @throws Fault 400 for a property that is unknown, or of a type that does not compare
 */
export function comparedField(path: readonly string[], { properties, collation, quirks }: Scope) {
  const type = typeOfPath(properties, path);
  if (type === undefined) throw fault(400, `Could not find a property named '${path.join('/')}'.`);
  const { [type]: comparable } = COMPARABLE;
  if (comparable === undefined) throw fault(400, `'${path.join('/')}' cannot be compared.`);
  const ignoresCase = comparable === 'guid' || (comparable === 'text' && collation === 'ignoring case');
  return {
    type: TYPES[comparable] ?? ('string' as const),
    fold: (text: string) => (ignoresCase ? text.toLowerCase() : text),
    read: (row: TableRow) => {
      const value = valueAt(row, path.join('.')) ?? null;
      return value !== null && isKeptAsDouble(type, quirks) ? inDouble(value) : value;
    },
  };
}
