import {
  type Condition,
  type FieldType,
  type OrderByClause,
  parseQuery,
  type Query,
  type WhereClause,
} from '@jetstreamapp/soql-parser-js';
import { Fault } from '#connector/simulator';

/** A condition of a statement; strings are unescaped, except for patterns. */
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | {
      readonly kind: 'test';
      readonly field: string;
      readonly operator: string;
      readonly literals: readonly SoqlLiteral[];
    };

/** `text` is as written, quotes included. */
export interface SoqlLiteral {
  readonly type: string;
  readonly text: string;
}

export interface Order {
  readonly field: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** `COUNT()` counts rows; `COUNT(field)` those with a value, and answers a record that has it under a name. */
export interface Count {
  readonly field?: string;
  readonly name: string;
}

export interface Statement {
  readonly object: string;
  readonly fields: readonly string[];
  readonly count?: Count;
  readonly where?: Expression;
  readonly orderBy: readonly Order[];
  readonly limit: number;
  readonly offset: number;
}

const MAX_LENGTH = 100_000;
const MAX_OFFSET = 2000;

/**
 * The grammar is somebody else's parser's; it is laxer than Salesforce in mixing AND, OR and NOT, which is checked here. Bulk queries refuse
 * more; `ORDER BY` and `LIMIT` they take, slowly.
 * @throws Fault 400
 */
export function parseStatement(soql: string, isBulk = false): Statement {
  if (soql.length > MAX_LENGTH) throw malformed(`SOQL statements cannot be longer than ${MAX_LENGTH} characters.`);
  const query = parse(soql);
  const refusal = isBulk ? REFUSED_IN_BULK.find(([has]) => has(query)) : undefined;
  if (refusal !== undefined) throw new Fault(400, 'API_ERROR', refusal[1]);
  const { offset = 0 } = query;
  if (offset > MAX_OFFSET) throw new Fault(400, 'NUMBER_OUTSIDE_VALID_RANGE', `Maximum SOQL offset allowed is 2000`);
  return {
    object: query.sObject ?? '',
    ...readSelection(query),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
    orderBy: [query.orderBy ?? []].flat().map(readOrder),
    limit: query.limit ?? Number.POSITIVE_INFINITY,
    offset,
  };
}

const hasField = (type: FieldType['type']) => (query: Query) =>
  query.fields?.some((field) => field.type === type) === true;

const REFUSED_IN_BULK: readonly (readonly [has: (query: Query) => boolean, message: string])[] = [
  [hasField('FieldSubquery'), 'Aggregate Relationships not supported in Bulk V2 Query with CSV content type.'],
  [hasField('FieldFunctionExpression'), 'Aggregate functions not supported in Bulk Query'],
  [hasField('FieldTypeof'), 'TYPEOF not supported in Bulk Query'],
  [({ groupBy }) => groupBy !== undefined, 'GROUP BY not supported in Bulk Query'],
  [({ offset }) => offset !== undefined, 'OFFSET not supported in Bulk Query'],
];

function parse(soql: string): Query {
  try {
    return parseQuery(soql);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : String(error));
  }
}

function malformed(message: string): Fault {
  return new Fault(400, 'MALFORMED_QUERY', message);
}

function readSelection({ fields = [] }: Query): Pick<Statement, 'fields' | 'count'> {
  const names = fields.flatMap((field) => {
    if (field.type === 'Field') return [field.field];
    if (field.type === 'FieldRelationship') return [`${field.relationships.join('.')}.${field.field}`];
    return [];
  });
  const count = fields.length === 1 ? readCount(fields[0]) : undefined;
  if (count !== undefined) return { fields: [], count };
  if (names.length < fields.length) throw malformed('only plain fields and one COUNT are simulated in SELECT');
  return { fields: names };
}

function readCount(field: FieldType | undefined): Count | undefined {
  if (field?.type !== 'FieldFunctionExpression' || field.functionName !== 'COUNT') return undefined;
  const { parameters: [counted] = [], alias = 'expr0' } = field;
  return { name: alias, ...(typeof counted === 'string' && { field: counted }) };
}

function readOrder(clause: OrderByClause): Order {
  if (!('field' in clause)) throw malformed('only plain fields are simulated in ORDER BY');
  // Nulls come first in both directions unless the statement says otherwise.
  return { field: clause.field, descending: clause.order === 'DESC', nullsFirst: clause.nulls !== 'LAST' };
}

type Token = '(' | ')' | 'AND' | 'OR' | 'NOT' | Expression;

/** The parser counts parentheses beside its conditions instead of nesting them: here they become tokens again. */
function readWhere(where: WhereClause): Expression {
  const tokens: Token[] = [];
  for (let node: WhereClause | undefined = where; node !== undefined; node = 'right' in node ? node.right : undefined) {
    const { left } = node;
    const isNegation = left === null || !('field' in left);
    tokens.push(...parentheses('(', left?.openParen));
    if (!isNegation) tokens.push(readTest(left), ...parentheses(')', closeParenOf(left)));
    if ('operator' in node) tokens.push(node.operator);
  }
  const { expression, rest } = readGroup(tokens);
  if (rest.length > 0) throw malformed("unexpected token: ')'");
  return expression;
}

function parentheses(token: '(' | ')', count = 0): readonly Token[] {
  return Array.from({ length: count }, () => token);
}

function closeParenOf(left: Condition | object): number | undefined {
  return 'closeParen' in left && typeof left.closeParen === 'number' ? left.closeParen : undefined;
}

function readTest(left: object): Expression {
  const { field, operator, value, literalType }: Readonly<Record<string, unknown>> = Object(left);
  if (typeof field !== 'string') throw malformed('functions are not simulated in WHERE');
  const texts = [value].flat().map(String);
  const types = [literalType].flat();
  const literals = texts.map((text, index) => ({ type: String(types[index] ?? types[0]), text }));
  return { kind: 'test', field, operator: String(operator), literals };
}

interface Read {
  readonly expression: Expression;
  readonly rest: readonly Token[];
}

/** Operands up to the closing parenthesis: joined by AND or by OR, never both, and NOT stands alone. */
function readGroup(tokens: readonly Token[]): Read {
  if (tokens[0] === 'NOT') {
    const { expression, rest } = readOperand(tokens.slice(1));
    if (rest[0] === 'AND' || rest[0] === 'OR') throw malformed(`unexpected token: ${rest[0]}`);
    return { expression: { kind: 'not', operand: expression }, rest };
  }
  const operands: Expression[] = [];
  let word: Token | undefined;
  for (let left = tokens; ; ) {
    const { expression, rest } = readOperand(left);
    operands.push(expression);
    const [next] = rest;
    if (next !== 'AND' && next !== 'OR') return { expression: join(operands, word), rest };
    if (word !== undefined && word !== next) throw malformed(`unexpected token: ${next}`);
    word = next;
    left = rest.slice(1);
  }
}

function join(operands: readonly Expression[], word: Token | undefined): Expression {
  const [only] = operands;
  return operands.length === 1 && only !== undefined ? only : { kind: word === 'OR' ? 'or' : 'and', operands };
}

function readOperand([first, ...rest]: readonly Token[]): Read {
  if (first === '(') {
    const group = readGroup(rest);
    if (group.rest[0] !== ')') throw malformed("expecting a right parentheses, found '<EOF>'");
    return { expression: group.expression, rest: group.rest.slice(1) };
  }
  if (first === undefined || typeof first === 'string') throw malformed(`unexpected token: ${first ?? '<EOF>'}`);
  return { expression: first, rest };
}
