import {
  compileFilter,
  escapePattern,
  Fault,
  type FilterField,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  FOLDS,
  filterFieldOf,
  type Members,
  type ODataExpression,
  parseODataFilter,
  type RowOrder,
  type TableRow,
} from '#connector/simulator';

/** The literals that each type of property compares with. */
const LITERALS: Readonly<Record<string, string>> = {
  ...{ integer: 'number', number: 'number', boolean: 'boolean', date: 'date', datetime: 'datetime' },
};
const OPERATORS: ReadonlyMap<string, FilterTest['operator']> = new Map(
  Object.entries({ eq: '=', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const),
);
const PATTERNS: Readonly<Record<string, (part: string) => string>> = {
  contains: (part) => `%${part}%`,
  startswith: (part) => `${part}%`,
  endswith: (part) => `%${part}`,
};

export function badQuery(message: string): Fault {
  return new Fault(400, '0x80060888', message);
}

/** The properties of a table, and those that hold GUIDs. */
export interface Scope {
  readonly members: Members;
  readonly isGuid: (name: string) => boolean;
}

/**
 * Compiles `$filter`. Rows without a value match no comparison, and no negation of one. Source: "Filter rows using OData": "Records aren't
 * returned if the expression evaluates to false or null".
 * @throws Fault 400
 */
export function compileWhere(filter: string | null, scope: Scope): (row: TableRow) => boolean {
  if (filter === null) return () => true;
  const tree = toTree(parseODataFilter(filter), scope);
  return compileFilter(tree, { field: (name) => fieldOf(name, scope), refuse: badQuery });
}

function fieldOf(name: string, { members, isGuid }: Scope): FilterField | undefined {
  // All filters of texts ignore case. Source: "Filter using string values".
  const field = filterFieldOf(members, name, 'ignoring case');
  return field && isGuid(name) ? { ...field, fold: FOLDS['ignoring case'] } : field;
}

function toTree(expression: ODataExpression, scope: Scope): FilterTree {
  if (expression.kind !== 'call') throw badQuery('A filter is a comparison.');
  const { name, args } = expression;
  if (name !== 'and' && name !== 'or' && name !== 'not') return toTest(name, args, scope);
  const operands = args.map((arg) => toTree(arg, scope));
  const [operand] = operands;
  return name === 'not' && operand !== undefined
    ? { kind: 'not', operand }
    : { kind: name === 'or' ? 'or' : 'and', operands };
}

function toTest(name: string, [left, right]: readonly ODataExpression[], scope: Scope): FilterTest {
  if (left?.kind !== 'path' || right === undefined) throw badQuery('A property stands in front of a literal.');
  const field = left.path.join('/');
  const member = scope.members[field];
  if (member === undefined) throw badQuery(`Could not find a property named '${field}'`);
  const test = (operator: FilterTest['operator'], ...values: readonly FilterLiteral[]): FilterTest => ({
    ...{ kind: 'test', field, operator, values },
  });
  if (right.kind === 'null' && (name === 'eq' || name === 'ne')) return test(name === 'eq' ? 'IS NULL' : 'IS NOT NULL');
  if (right.kind !== 'literal') throw badQuery('A property stands in front of a literal.');
  const wanted = scope.isGuid(field) ? 'guid' : (LITERALS[member.type] ?? 'text');
  if (right.type !== wanted) throw badQuery(`A binary operator with incompatible types was detected at '${field}'`);
  const pattern = Object.hasOwn(PATTERNS, name) ? PATTERNS[name] : undefined;
  if (pattern !== undefined && wanted === 'text') return test('LIKE', pattern(toPattern(right.text)));
  const operator = OPERATORS.get(name);
  if (operator === undefined) throw badQuery(`The function '${name}' is not supported`);
  return test(operator, right.text);
}

/** Reads the wildcards of T-SQL: `%`, `_`, and a character in brackets, which stands for itself. */
function toPattern(text: string): string {
  return text.replace(/\[(.)\]|([[\]\\])/gsu, (_, literal: string | undefined, other: string) => {
    if (literal !== undefined) return escapePattern(literal);
    if (other === '[') throw badQuery('Sets of characters are not simulated');
    return escapePattern(other);
  });
}

/** Reads `$orderby`. Rows without a value are first in ascending order, as in SQL. */
export function readOrder(order: string | null, scope: Scope): readonly RowOrder[] {
  return (order?.split(',') ?? []).map((term) => {
    const [, name = '', direction] = /^\s*(\w+)(?: (asc|desc))?\s*$/.exec(term) ?? [];
    const field = fieldOf(name, scope);
    if (field?.read === undefined) throw badQuery(`'${term}' is no order`);
    return { ...field, read: field.read, descending: direction === 'desc' };
  });
}
