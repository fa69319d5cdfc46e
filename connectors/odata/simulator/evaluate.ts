import type { Row } from './data.ts';
import type { Expression } from './parse-filter.ts';
import { Problem } from './problem.ts';
import type { Quirks } from './quirks.ts';
import { CATEGORIES, type EntitySchema, typeOfPath } from './schema.ts';

/** How text compares: OData leaves it to the service. */
export type Collation = 'binary' | 'ignoring case';

/** A typed value; null has no type. */
type Scalar = { readonly type: string; readonly value: string } | null;
type Compiled = (row: Row) => Scalar;

const TRUE = { type: 'boolean', value: 'true' } as const;
const FALSE = { type: 'boolean', value: 'false' } as const;

/** The literal type that each property type compares with. */
const COMPARABLE: ReadonlyMap<string, string> = new Map([
  ['Edm.String', 'text'],
  ['Edm.Boolean', 'boolean'],
  ['Edm.Byte', 'number'],
  ['Edm.Int16', 'number'],
  ['Edm.Int32', 'number'],
  ['Edm.Int64', 'number'],
  ['Edm.Decimal', 'number'],
  ['Edm.Double', 'number'],
  ['Edm.Date', 'date'],
  ['Edm.DateTimeOffset', 'datetime'],
  ['Edm.TimeOfDay', 'time'],
  ['Edm.Guid', 'guid'],
  ['Demo.Category', 'enum'],
  ['Demo.Package', 'structure'],
  ['Demo.Place', 'structure'],
]);

/**
 * Compiles a filter under OData's rules: `eq` and `ne` take null for a value, the other comparisons are false for null, and
 * functions of null are null. Source: OData URL Conventions 4.01, section 5.1.1.1.
 * @throws Problem 400 for unknown properties and types that do not compare.
 */
export function compileFilter(filter: Expression, scope: Scope): (row: Row) => boolean {
  const test = compile(filter, scope);
  return (row) => test(row)?.value === 'true';
}

export interface Scope {
  readonly properties: EntitySchema['properties'];
  readonly collation: Collation;
  readonly quirks: Quirks;
}

function compile(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case 'null':
      return () => null;
    case 'literal':
      return compileLiteral(expression);
    case 'path':
      return compilePath(expression.path, scope);
    case 'call':
      return compileCall(expression.name, expression.args, scope);
    case 'list':
      throw new Problem(400, 'A list stands only behind in.');
  }
}

function compileLiteral({ type, text }: Extract<Expression, { kind: 'literal' }>): Compiled {
  const value = type === 'enum' ? readEnum(text) : text;
  return () => ({ type, value });
}

function readEnum(text: string): string {
  const member = /^Demo\.Category\|(\w+)\|$/.exec(text)?.[1];
  if (!CATEGORIES.some((name) => name === member)) throw new Problem(400, `There is no enumeration member ${text}.`);
  return member ?? '';
}

function compilePath(path: readonly string[], { properties }: Scope): Compiled {
  const native = typeOfPath(properties, path);
  if (native === undefined) throw new Problem(400, `Could not find a property named '${path.join('/')}'.`);
  const type = COMPARABLE.get(native);
  if (type === undefined) throw new Problem(400, `'${path.join('/')}' cannot be compared.`);
  return (row) => {
    const value = path.reduce<unknown>((inner, name) => (inner === null ? null : Object(inner)[name]), row);
    return value === null || value === undefined ? null : { type, value: String(value) };
  };
}

type Operator = (left: Scalar, right: Scalar, scope: Scope) => Scalar;

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['eq', (left, right, scope) => toBoolean(isEqual(left, right, scope))],
  ['ne', (left, right, scope) => toBoolean(!isEqual(left, right, scope))],
  ['lt', ordered((order) => order < 0)],
  ['le', ordered((order) => order <= 0)],
  ['gt', ordered((order) => order > 0)],
  ['ge', ordered((order) => order >= 0)],
  ['contains', matching((text, part) => text.includes(part))],
  ['startswith', matching((text, part) => text.startsWith(part))],
  ['endswith', matching((text, part) => text.endsWith(part))],
]);

function compileCall(name: string, args: readonly Expression[], scope: Scope): Compiled {
  if (name === 'eqany') return compileIn(args, scope);
  const operands = args.map((arg) => compile(arg, scope));
  if (name === 'and') return (row) => conjunction(operands, row);
  if (name === 'or') {
    const negated = operands.map((operand) => (row: Row) => negate(operand(row)));
    return (row) => negate(conjunction(negated, row));
  }
  const [left, right] = operands;
  if (name === 'not' && left !== undefined) return (row) => negate(left(row));
  const operator = OPERATORS.get(name);
  if (operator === undefined || left === undefined || right === undefined) {
    throw new Problem(400, `The function '${name}' is not supported.`);
  }
  checkTypes(args, scope);
  if (scope.quirks.tellsBytesFromIntegers && ORDERS.has(name)) checkBytes(args, scope);
  const kept =
    scope.quirks.keepsDoubles && args.some((arg) => isFloating(arg, scope)) ? toDouble : (value: Scalar) => value;
  return (row) => operator(kept(left(row)), kept(right(row)), scope);
}

const ORDERS: ReadonlySet<string> = new Set(['lt', 'le', 'gt', 'ge']);

function checkBytes(args: readonly Expression[], { properties }: Scope): void {
  const isByte = args.some((arg) => arg.kind === 'path' && typeOfPath(properties, arg.path) === 'Edm.Byte');
  const isInteger = args.some((arg) => arg.kind === 'literal' && /^-?\d+$/.test(arg.text));
  if (isByte && isInteger) throw new Problem(400, 'Incompatible types: Edm.Byte and Edm.SByte.');
}

function isFloating(expression: Expression, { properties }: Scope): boolean {
  return expression.kind === 'path' && /^Edm\.(Decimal|Double)$/.test(typeOfPath(properties, expression.path) ?? '');
}

/** What a double makes of a number, in digits enough to tell it from its neighbours. */
function toDouble(scalar: Scalar): Scalar {
  return scalar && { ...scalar, value: Number(scalar.value).toFixed(30) };
}

function compileIn([operand, list]: readonly Expression[], scope: Scope): Compiled {
  const members = list?.kind === 'list' ? list.members : [];
  if (operand === undefined) throw new Problem(400, 'Nothing stands in front of in.');
  const tests = members.map((member) => compileCall('eq', [operand, member], scope));
  return (row) => toBoolean(tests.some((test) => test(row) === TRUE));
}

/** Before any row is read, so that a mistake is told even when the set is empty. */
function checkTypes(args: readonly Expression[], { properties }: Scope): void {
  const types = args.map((arg) => staticType(arg, properties)).filter((type) => type !== undefined);
  if (new Set(types).size > 1) throw new Problem(400, `Incompatible types: ${types.join(' and ')}.`);
}

function staticType(expression: Expression, properties: EntitySchema['properties']): string | undefined {
  if (expression.kind === 'literal') return expression.type;
  return expression.kind === 'path' ? COMPARABLE.get(typeOfPath(properties, expression.path) ?? '') : undefined;
}

function toBoolean(condition: boolean): Scalar {
  return condition ? TRUE : FALSE;
}

function negate(value: Scalar): Scalar {
  return value && toBoolean(value.value === 'false');
}

/** Ends at the first operand that is false, so that one may guard the next. */
function conjunction(operands: readonly Compiled[], row: Row): Scalar {
  let result: Scalar = TRUE;
  for (const operand of operands) {
    const value = operand(row);
    if (value?.value === 'false') return FALSE;
    if (value === null) result = null;
  }
  return result;
}

function isEqual(left: Scalar, right: Scalar, scope: Scope): boolean {
  if (left === null || right === null) return left === right;
  return compareValues(left, right, scope) === 0;
}

function ordered(accepts: (order: number) => boolean): Operator {
  return (left, right, scope) =>
    toBoolean(left !== null && right !== null && accepts(compareValues(left, right, scope)));
}

function matching(test: (text: string, part: string) => boolean): Operator {
  return (left, right, { collation, quirks }) => {
    if (left === null && quirks.failsOnNull) throw new Problem(400, 'A function of null cannot be evaluated.');
    if (quirks.filter === 'finds no text') return FALSE;
    if (left === null || right === null) return null;
    const part = quirks.escapesInPatterns ? right.value.replace(/\\(.?)/gs, '$1') : right.value;
    return toBoolean(test(fold(left.value, collation), fold(part, collation)));
  };
}

function fold(text: string, collation: Collation): string {
  return collation === 'binary' ? text : text.toLowerCase();
}

/** Ranks by type, as `$orderby` needs it too. */
export function compareValues(left: NonNullable<Scalar>, right: NonNullable<Scalar>, scope: Pick<Scope, 'collation'>) {
  const [a, b] = [left, right].map((scalar) => rank(scalar, scope.collation));
  if (a === undefined || b === undefined || a === b) return 0;
  return a < b ? -1 : 1;
}

function rank({ type, value }: NonNullable<Scalar>, collation: Collation): string | bigint {
  if (type === 'number') return toFixedPoint(value);
  if (type === 'datetime') return toNanoseconds(value);
  if (type === 'text') return fold(value, collation);
  return type === 'guid' ? value.toLowerCase() : value;
}

const DECIMALS = 40;

function toFixedPoint(text: string): bigint {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = DECIMALS - fraction.length + Number(exponent);
  if (shift < 0 || shift > 1000) throw new Problem(400, `The number ${text.slice(0, 100)} is out of range.`);
  const scaled = BigInt(`${whole}${fraction}`) * 10n ** BigInt(shift);
  return sign === '-' ? -scaled : scaled;
}

function toNanoseconds(text: string): bigint {
  const [, seconds = '', fraction = '', zone = 'Z'] =
    /^([^.Z+]{16,19}?)(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  return BigInt(Date.parse(`${seconds}${zone}`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}

/** The value of a path in a row, typed for `compareValues`; null sorts in front. */
export function readPath(row: Row, path: readonly string[], properties: EntitySchema['properties']): Scalar {
  return compilePath(path, { properties, collation: 'binary', quirks: {} })(row);
}
