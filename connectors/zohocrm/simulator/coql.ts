import {
  compileFilter,
  Fault,
  type FilterTree,
  FOLDS,
  filterFieldOf,
  type Members,
  readSeparated,
  readTokens,
  sortRows,
  type TableRow,
  type TextRule,
  type TextToken,
} from '#connector/simulator';
import type { Module } from './modules.ts';

/** A parsed query. */
export interface Query {
  readonly columns: readonly string[];
  readonly module: string;
  readonly where: FilterTree;
  readonly order: readonly { readonly name: string; readonly isDescending: boolean }[];
  readonly limit: number;
  readonly offset: number;
}

type Kind = 'text' | 'number' | 'word' | 'sign';

const TOKENS =
  /'(?<text>(?:[^']|'')*)'|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|(?<word>[A-Za-z_]\w*)|(?<sign><=|>=|!=|[=<>(),])/;
const RESERVED = 'select from where and or not in like is null between order by limit offset group as external'.split(
  ' ',
);
const OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const;
const MOST = { columns: 50, criteria: 25, values: 50, rows: 2000, window: 100_000, sorts: 10 };

/**
 * Parses a query. Source: "Query API - An Overview" and "Query API - Limitations": criteria are joined in pairs, and each pair has brackets
 * where there are several.
 * @throws Fault 400 for a query that Zoho CRM does not accept
 */
export function parseQuery(text: string): Query {
  const { isNext, take, need, fail, needEnd } = readTokens<Kind>(text, TOKENS, refuse);
  let criteria = 0;
  const name = (): string => {
    if (isNext('word') && !isNext('word', ...RESERVED)) return need('word').text;
    throw fail('a name');
  };
  const listOf = <Item>(read: () => Item) => readSeparated(read, () => take('sign', ','));
  const literal = () => {
    const token = take('text') ?? take('number');
    if (token === undefined) throw fail('a value');
    return unquote(token);
  };
  const count = () => {
    const number = need('number').text;
    if (!/^\d+$/.test(number)) throw syntax(`a number expected near ${number}`);
    return Number(number);
  };

  function criterion(): FilterTree {
    if (++criteria > MOST.criteria) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum criteria limit exceeded');
    const field = name();
    if (take('word', 'is')) {
      const operator = take('word', 'not') ? 'IS NOT NULL' : 'IS NULL';
      need('word', 'null');
      return { kind: 'test', field, operator, values: [] };
    }
    const negation = take('word', 'not') ? 'NOT ' : '';
    if (take('word', 'in')) {
      need('sign', '(');
      const values = listOf(literal);
      need('sign', ')');
      if (values.length > MOST.values) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum in values limit exceeded');
      return { kind: 'test', field, operator: `${negation}IN`, values };
    }
    if (take('word', 'like')) {
      const pattern = literal().replace(/[\\_]/g, '\\$&');
      if (!/^%?[^%]+%?$/.test(pattern)) throw syntax(`a pattern expected near ${pattern}`);
      return { kind: 'test', field, operator: `${negation}LIKE`, values: [pattern] };
    }
    const operator = negation === '' ? OPERATORS.find((sign) => take('sign', sign) !== undefined) : undefined;
    if (operator === undefined) throw fail('an operator');
    return { kind: 'test', field, operator, values: [literal()] };
  }

  function operand(): FilterTree {
    if (take('sign', '(') === undefined) return criterion();
    const inner = pair();
    need('sign', ')');
    return inner;
  }

  function pair(): FilterTree {
    const first = operand();
    const kind = (['and', 'or'] as const).find((word) => take('word', word) !== undefined);
    return kind === undefined ? first : { kind, operands: [first, operand()] };
  }

  need('word', 'select');
  const columns = listOf(() => {
    const quoted = take('text');
    return quoted === undefined ? name() : unquote(quoted);
  });
  need('word', 'from');
  const module = name();
  need('word', 'where');
  const where = pair();
  const sort = () => {
    const field = name();
    const isDescending = take('word', 'desc') !== undefined;
    if (!isDescending) take('word', 'asc');
    return { name: field, isDescending };
  };
  const order = take('word', 'order') && need('word', 'by') ? listOf(sort) : [];
  const limit = take('word', 'limit') ? count() : 200;
  const offset = take('word', 'offset') ? count() : 0;
  needEnd();
  if (new Set(order.map((each) => each.name)).size < order.length) {
    throw new Fault(400, 'DUPLICATE_DATA', 'duplicate data');
  }
  const isTooMuch =
    columns.length > MOST.columns || limit > MOST.rows || offset + limit > MOST.window || order.length > MOST.sorts;
  if (isTooMuch) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum limit exceeded');
  return { columns, module, where, order, limit, offset };
}

function unquote({ kind, text }: TextToken<Kind>): string {
  return kind === 'text' ? text.replaceAll("''", "'") : text;
}

function refuse({ kind, text }: TextToken<Kind>, wanted: string): Fault {
  return syntax(kind === 'unknown' ? `${text.slice(0, 20)} is no part of a query` : `${wanted} expected near ${text}`);
}

function syntax(message: string): Fault {
  return new Fault(400, 'SYNTAX_ERROR', message);
}

function invalid(message: string): Fault {
  return new Fault(400, 'INVALID_QUERY', message);
}

/** Options of the comparison, which Zoho CRM does not document. */
interface Comparison {
  readonly text: TextRule;
  /** Whether `!=`, `not in` and `not like` match records without a value. */
  readonly matchesMissing: boolean;
}

/** Kinds of fields that no criterion can have. Booleans have `=` only. */
const UNFILTERED = /^(?:textarea|formula|ALARM|jsonarray|bigint)$/;

/** Returns the records that a query finds, in its order. */
export function runQuery(
  { where, order, limit, offset }: Query,
  { fields }: Module,
  members: Members,
  rows: readonly TableRow[],
  { text, matchesMissing }: Comparison,
): { readonly found: readonly TableRow[]; readonly hasMore: boolean } {
  const fieldOf = (name: string) => {
    const kind = fields.find((field) => field.name === name)?.kind ?? 'id';
    if (UNFILTERED.test(kind)) throw invalid(`invalid operator found for ${name}`);
    if (kind === 'multiselectpicklist')
      return { type: 'string', read: (row: TableRow) => listText(row[name]) } as const;
    const field = filterFieldOf(members, name);
    if (field === undefined) throw invalid(`column given seems to be invalid: ${name}`);
    if (kind === 'id' || kind.endsWith('lookup')) return { ...field, type: 'string' } as const;
    return { ...field, ...(field.type === 'string' && { fold: FOLDS[text] }) };
  };
  const missing = matchesMissing ? { '!=': true, 'NOT IN': true, 'NOT LIKE': true } : {};
  const matches = compileFilter(where, { field: fieldOf, ofNull: missing, refuse: invalid });
  const terms = order.map(({ name, isDescending }) => ({ ...fieldOf(name), descending: isDescending }));
  const sorted = sortRows(rows.filter(matches), terms);
  return { found: sorted.slice(offset, offset + limit), hasMore: sorted.length > offset + limit };
}

function listText(value: unknown): string | null {
  return Array.isArray(value) && value.length > 0 ? value.join(';') : null;
}
