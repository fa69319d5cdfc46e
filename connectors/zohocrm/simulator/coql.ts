import {
  compileFilter,
  Fault,
  type FilterTree,
  FOLDS,
  filterFieldOf,
  type Members,
  sortRows,
  type TableRow,
  type TextRule,
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

const TOKENS = /\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)(?![\w.])|([A-Za-z_]\w*)|(<=|>=|!=|[=<>(),]))/y;
const RESERVED = /^(?:select|from|where|and|or|not|in|like|is|null|between|order|by|limit|offset|group|as|external)$/i;
const MOST = { columns: 50, criteria: 25, values: 50, rows: 2000, window: 100_000, sorts: 10 };

/**
 * Parses a query. Source: "Query API - An Overview" and "Query API - Limitations": criteria are joined in pairs, and each pair has brackets
 * where there are several.
 * @throws Fault 400 for a query that Zoho CRM does not accept
 */
export function parseQuery(text: string): Query {
  const tokens = tokensOf(text);
  let at = 0;
  let criteria = 0;
  const peek = () => tokens[at] ?? '';
  const take = () => tokens[at++] ?? '';
  const accept = (word: string) => peek().toLowerCase() === word && at++ >= 0;
  const expect = (word: string) => {
    if (!accept(word)) throw syntax(`${word} expected near ${peek()}`);
  };
  const name = (mayQuote = false): string => {
    const token = take();
    if (mayQuote && token.startsWith("'")) return unquote(token);
    if (!/^[A-Za-z_]\w*$/.test(token) || RESERVED.test(token)) throw syntax(`a name expected near ${token}`);
    return token;
  };
  const listOf = <Item>(read: () => Item): readonly Item[] => {
    const items = [read()];
    while (accept(',')) items.push(read());
    return items;
  };
  const literal = () => {
    const token = take();
    if (token.startsWith("'")) return unquote(token);
    if (/^-?\d/.test(token)) return token;
    throw syntax(`a value expected near ${token}`);
  };
  const count = () => {
    const token = take();
    if (!/^\d+$/.test(token)) throw syntax(`a number expected near ${token}`);
    return Number(token);
  };

  function criterion(): FilterTree {
    if (++criteria > MOST.criteria) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum criteria limit exceeded');
    const field = name();
    if (accept('is')) {
      const operator = accept('not') ? 'IS NOT NULL' : 'IS NULL';
      expect('null');
      return { kind: 'test', field, operator, values: [] };
    }
    const negation = accept('not') ? 'NOT ' : '';
    if (accept('in')) {
      expect('(');
      const values = listOf(literal);
      expect(')');
      if (values.length > MOST.values) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum in values limit exceeded');
      return { kind: 'test', field, operator: `${negation}IN`, values };
    }
    if (accept('like')) {
      const pattern = literal().replace(/[\\_]/g, '\\$&');
      if (!/^%?[^%]+%?$/.test(pattern)) throw syntax(`a pattern expected near ${pattern}`);
      return { kind: 'test', field, operator: `${negation}LIKE`, values: [pattern] };
    }
    const operator = ['=', '!=', '<', '<=', '>', '>='].find((each) => each === peek());
    if (operator === undefined || negation !== '') throw syntax(`an operator expected near ${peek()}`);
    take();
    return { kind: 'test', field, operator: operator as '=', values: [literal()] };
  }

  function operand(): FilterTree {
    if (!accept('(')) return criterion();
    const inner = pair();
    expect(')');
    return inner;
  }

  function pair(): FilterTree {
    const first = operand();
    const word = peek().toLowerCase();
    if (word !== 'and' && word !== 'or') return first;
    take();
    return { kind: word, operands: [first, operand()] };
  }

  expect('select');
  const columns = listOf(() => name(true));
  expect('from');
  const module = name();
  expect('where');
  const where = pair();
  const sort = () => {
    const field = name();
    const isDescending = accept('desc');
    if (!isDescending) accept('asc');
    return { name: field, isDescending };
  };
  const isSorted = accept('order');
  if (isSorted) expect('by');
  const order = isSorted ? listOf(sort) : [];
  const limit = accept('limit') ? count() : 200;
  const offset = accept('offset') ? count() : 0;
  if (at < tokens.length) throw syntax(`the end expected near ${peek()}`);
  if (new Set(order.map((each) => each.name)).size < order.length) {
    throw new Fault(400, 'DUPLICATE_DATA', 'duplicate data');
  }
  const isTooMuch =
    columns.length > MOST.columns || limit > MOST.rows || offset + limit > MOST.window || order.length > MOST.sorts;
  if (isTooMuch) throw new Fault(400, 'LIMIT_EXCEEDED', 'maximum limit exceeded');
  return { columns, module, where, order, limit, offset };
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKENS.lastIndex = 0;
  while (text.slice(TOKENS.lastIndex).trim() !== '') {
    const start = TOKENS.lastIndex;
    const match = TOKENS.exec(text);
    if (match === null) throw syntax(`${text.slice(start, start + 20)} is no part of a query`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

function unquote(token: string): string {
  return token.slice(1, -1).replaceAll("''", "'");
}

function syntax(message: string): Fault {
  return new Fault(400, 'SYNTAX_ERROR', message);
}

function invalid(message: string): Fault {
  return new Fault(400, 'INVALID_QUERY', message);
}

/** Options of the comparison, which Zoho CRM does not document. */
export interface Comparison {
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
