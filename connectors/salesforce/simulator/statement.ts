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

/** The parser counts parentheses beside its conditions instead of nesting them: here they become tokens again. */
function readWhere(where: WhereClause): Expression {
  const tokens: (string | Expression)[] = [];
  for (let node: WhereClause | undefined = where; node !== undefined; node = 'right' in node ? node.right : undefined) {
    const { openParen = 0, closeParen = 0, ...left }: Partial<Condition & { closeParen: number }> = node.left ?? {};
    tokens.push(...Array<string>(openParen).fill('('));
    // A negation has none.
    if ('field' in left) tokens.push(readTest(left), ...Array<string>(closeParen).fill(')'));
    if ('operator' in node) tokens.push(node.operator);
  }
  tokens.reverse();
  const expression = readGroup(tokens);
  if (tokens.length > 0) throw malformed("unexpected token: ')'");
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

/** Operands up to the closing parenthesis: joined by AND or by OR, never both, and NOT stands alone. The next token is the last. */
function readGroup(tokens: (string | Expression)[]): Expression {
  const isNegation = tokens.at(-1) === 'NOT';
  if (isNegation) tokens.pop();
  const first = readOperand(tokens);
  const operands = [first];
  const word = tokens.at(-1);
  while (!isNegation && isWord(word) && tokens.at(-1) === word) {
    tokens.pop();
    operands.push(readOperand(tokens));
  }
  const next = tokens.at(-1);
  if (isWord(next)) throw malformed(`unexpected token: ${next}`);
  if (isNegation) return { kind: 'not', operand: first };
  return operands.length === 1 ? first : { kind: word === 'OR' ? 'or' : 'and', operands };
}

const isWord = (token: unknown) => token === 'AND' || token === 'OR';

function readOperand(tokens: (string | Expression)[]): Expression {
  const token = tokens.pop();
  if (token === '(') {
    const group = readGroup(tokens);
    if (tokens.pop() === ')') return group;
    throw malformed("expecting a right parentheses, found '<EOF>'");
  }
  if (token === undefined || typeof token === 'string') throw malformed(`unexpected token: ${token ?? '<EOF>'}`);
  return token;
}
