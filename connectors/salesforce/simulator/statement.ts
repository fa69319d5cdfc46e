import {
  type Condition,
  type FieldType,
  type OrderByClause,
  parseQuery,
  type Query,
  type WhereClause,
} from '@jetstreamapp/soql-parser-js';
import { Fault } from '#connector/simulator';

interface Test {
  readonly kind: 'test';
  readonly field: string;
  readonly operator: string;
  readonly literals: readonly SoqlLiteral[];
}

/** A condition of a statement. */
export type Expression =
  | Test
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression };

/** A literal. Its `text` is written as in the statement, including quotes. */
export interface SoqlLiteral {
  readonly type: string;
  readonly text: string;
}

export interface Order {
  readonly field: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface Statement {
  readonly object: string;
  readonly fields: readonly string[];
  /** Whether the statement selects `COUNT()`: the number of rows, and no rows. */
  readonly isCount: boolean;
  readonly where?: Expression;
  readonly orderBy: readonly Order[];
  readonly limit: number;
}

const MAX_LENGTH = 100_000;

/**
 * Parses a statement with an independent parser. The parser is less strict than Salesforce about mixing AND, OR and NOT, so this function
 * checks it. Bulk queries reject more, but accept `ORDER BY` and `LIMIT`, with which they are slow.
 * @throws Fault 400
 */
export function parseStatement(soql: string, isBulk = false): Statement {
  if (soql.length > MAX_LENGTH) throw malformed(`SOQL statements cannot be longer than ${MAX_LENGTH} characters.`);
  const query = parse(soql);
  const refusal = isBulk ? REFUSED_IN_BULK.find(([has]) => has(query)) : undefined;
  if (refusal !== undefined) throw new Fault(400, 'API_ERROR', refusal[1]);
  if (query.offset !== undefined) throw malformed('OFFSET is not simulated');
  return {
    object: query.sObject ?? '',
    ...readSelection(query),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
    orderBy: [query.orderBy ?? []].flat().map(readOrder),
    limit: query.limit ?? Number.POSITIVE_INFINITY,
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

function readSelection({ fields = [] }: Query): Pick<Statement, 'fields' | 'isCount'> {
  const names = fields.flatMap((field) => {
    if (field.type === 'Field') return [field.field];
    if (field.type === 'FieldRelationship') return [`${field.relationships.join('.')}.${field.field}`];
    return [];
  });
  const isCount = fields.length === 1 && isCountOfRows(fields[0]);
  if (!isCount && names.length < fields.length)
    throw malformed('only plain fields and COUNT() are simulated in SELECT');
  return { fields: names, isCount };
}

function isCountOfRows(field: FieldType | undefined): boolean {
  return field?.type === 'FieldFunctionExpression' && field.functionName === 'COUNT' && field.parameters?.length === 0;
}

function readOrder(clause: OrderByClause): Order {
  if (!('field' in clause)) throw malformed('only plain fields are simulated in ORDER BY');
  // Nulls come first in both directions unless the statement says otherwise.
  return { field: clause.field, descending: clause.order === 'DESC', nullsFirst: clause.nulls !== 'LAST' };
}

/** Reads a condition. The parser counts the parentheses of its conditions instead of nesting them, so they become tokens again. */
function readWhere(where: WhereClause): Expression {
  const tokens: (string | Expression)[] = [];
  for (let node: WhereClause | undefined = where; node !== undefined; node = 'right' in node ? node.right : undefined) {
    const { openParen = 0, closeParen = 0, ...left }: Partial<Condition & { closeParen: number }> = node.left ?? {};
    tokens.push(...Array<string>(openParen).fill('('));
    // A negation has no condition of its own.
    if ('field' in left) tokens.push(readTest(left), ...Array<string>(closeParen).fill(')'));
    if ('operator' in node) tokens.push(node.operator);
  }
  tokens.reverse();
  const expression = readGroup(tokens);
  if (tokens.length > 0) throw malformed('unexpected token behind the condition');
  return expression;
}

function readTest(left: object): Expression {
  const { field, operator, value, literalType }: Readonly<Record<string, unknown>> = Object(left);
  if (typeof field !== 'string') throw malformed('functions are not simulated in WHERE');
  const types = [literalType].flat();
  const literals = [value]
    .flat()
    .map((text, index) => ({ type: String(types[index] ?? types[0]), text: String(text) }));
  return { kind: 'test', field, operator: String(operator), literals };
}

/**
 * Reads operands up to the closing parenthesis. AND or OR joins them, but never both, and NOT stands alone. The next token is the last one
 * of the array.
 */
function readGroup(tokens: (string | Expression)[]): Expression {
  const isNegation = tokens.at(-1) === 'NOT';
  if (isNegation) tokens.pop();
  const first = readOperand(tokens);
  const operands = [first];
  const word = tokens.at(-1);
  while (!isNegation && (word === 'AND' || word === 'OR') && tokens.at(-1) === word) {
    tokens.pop();
    operands.push(readOperand(tokens));
  }
  // Another word than the first one remains for the caller, which expects the end.
  if (isNegation) return { kind: 'not', operand: first };
  return operands.length === 1 ? first : { kind: word === 'OR' ? 'or' : 'and', operands };
}

function readOperand(tokens: (string | Expression)[]): Expression {
  const token = tokens.pop();
  if (token === '(') {
    const group = readGroup(tokens);
    if (tokens.pop() === ')') return group;
    throw malformed('expecting a right parenthesis');
  }
  if (token === undefined || typeof token === 'string') throw malformed(`unexpected token: ${token ?? '<EOF>'}`);
  return token;
}
