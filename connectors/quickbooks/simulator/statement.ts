import { invalidQuery, unparsable } from './fault.ts';

/** A statement `select * | names | count(*) from Entity [where …] [orderby …] [startposition n] [maxresults n]`. Keywords ignore case. */
export interface Statement {
  readonly entity: string;
  /** Names of the selected fields. Empty for all fields. */
  readonly fields: readonly string[];
  readonly isCount: boolean;
  /** The conditions, which are joined with AND. */
  readonly conditions: readonly Condition[];
  readonly order: readonly { readonly field: string; readonly descending: boolean }[];
  /** Position of the first row. The first position is 1. */
  readonly start: number;
  readonly size: number;
}

export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  /** The values of the condition: one, or several for IN. */
  readonly values: readonly Literal[];
}

export type Operator = '=' | '<' | '>' | '<=' | '>=' | 'LIKE' | 'IN';

/** A literal. Numbers, `true` and `false` need no quotes. */
export interface Literal {
  readonly text: string;
  readonly isQuoted: boolean;
}

interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'sign' | 'end';
  /** The text of the token. The text of a quoted literal has no quotes and no escapes. */
  readonly text: string;
  readonly column: number;
}

const USUAL_SIZE = 100;
const MOST = 1000;
const OPERATORS: readonly string[] = ['=', '<', '>', '<=', '>='];

/** Words and operators of SQL that this language does not support. */
const REFUSED: readonly string[] = ['or', 'not', 'is', '!=', 'between'];

/**
 * Parses a statement.
 * @throws Fault 4000 for a syntax error; 4001 for an unsupported part of SQL
 */
export function parseStatement(query: string): Statement {
  if (query.trim() === '') throw unparsable('The query provided was empty');
  const tokens = tokenize(query);
  let at = 0;

  const peek = (): Token => tokens[at] ?? { kind: 'end', text: '<EOF>', column: query.length };

  function take(kind: Token['kind'], text?: string): Token | undefined {
    const token = peek();
    if (token.kind !== kind || (text !== undefined && token.text.toLowerCase() !== text)) return undefined;
    at++;
    return token;
  }

  function need(kind: Token['kind'], text?: string): Token {
    return take(kind, text) ?? fail();
  }

  function fail(): never {
    const { text, column } = peek();
    if (REFUSED.includes(text.toLowerCase())) throw invalidQuery(`operator ${text} is not supported`);
    throw unparsable(`Encountered " "${text}" "${text} "" at line 1, column ${column}.`);
  }

  function listOf<Item>(read: () => Item): readonly Item[] {
    const items = [read()];
    while (take('sign', ',')) items.push(read());
    return items;
  }

  function readFields(): Pick<Statement, 'fields' | 'isCount'> {
    if (take('sign', '*') || take('word', 'from')) return { fields: [], isCount: false };
    const fields = listOf(() => need('word').text);
    if (fields.length > 1 || fields[0]?.toLowerCase() !== 'count') return { fields, isCount: false };
    for (const sign of ['(', '*', ')']) need('sign', sign);
    return { fields: [], isCount: true };
  }

  function readCondition(): Condition {
    const field = need('word').text;
    if (take('word', 'in')) {
      need('sign', '(');
      const values = listOf(readLiteral);
      need('sign', ')');
      return { field, operator: 'IN', values };
    }
    if (take('word', 'like')) return { field, operator: 'LIKE', values: [readLiteral()] };
    return { field, operator: readOperator(), values: [readLiteral()] };
  }

  function readOperator(): Operator {
    const sign = peek();
    if (sign.kind !== 'sign' || !isComparison(sign.text)) return fail();
    at++;
    return sign.text;
  }

  function readLiteral(): Literal {
    const token = take('text') ?? take('number') ?? take('word', 'true') ?? need('word', 'false');
    return { text: token.kind === 'word' ? token.text.toLowerCase() : token.text, isQuoted: token.kind === 'text' };
  }

  function readConditions(): readonly Condition[] {
    const conditions = [readCondition()];
    while (take('word', 'and')) conditions.push(readCondition());
    return conditions;
  }

  function readTerm() {
    const field = need('word').text;
    const descending = take('word', 'desc') !== undefined;
    if (!descending) take('word', 'asc');
    return { field, descending };
  }

  function readCount(word: string, usual: number): number {
    if (!take('word', word)) return usual;
    const count = Number(need('number').text);
    if (!Number.isInteger(count)) throw unparsable(`${word} is a whole number`);
    if (count < 1) throw invalidQuery(`value ${count} is too small. Min allowed value is 1`);
    return count;
  }

  need('word', 'select');
  const selection = readFields();
  if (tokens[at - 1]?.text.toLowerCase() !== 'from') need('word', 'from');
  const entity = need('word').text;
  const conditions = take('word', 'where') ? readConditions() : [];
  const isOrdered = take('word', 'orderby') ?? (take('word', 'order') && need('word', 'by'));
  const order = isOrdered ? listOf(readTerm) : [];
  const start = readCount('startposition', 1);
  const size = readCount('maxresults', USUAL_SIZE);
  if (size > MOST) throw invalidQuery(`value ${size} is too large. Max allowed value is ${MOST}`);
  if (peek().kind !== 'end') fail();
  return { entity, ...selection, conditions, order, start, size };
}

function isComparison(text: string): text is Operator {
  return OPERATORS.includes(text);
}

const TOKEN = /(\s+)|'((?:[^'\\]|\\[\s\S])*)'|([A-Za-z_][\w.]*)|(-?\d+(?:\.\d+)?)|(!=|<=|>=|[=<>(),*])/y;

function tokenize(query: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < query.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(query);
    const column = at + 1;
    if (match === null) {
      const letter = query[at] ?? '';
      const found = `Encountered: "${letter}" (${letter.charCodeAt(0)}), after : ""`;
      throw unparsable(`Invalid content. Lexical error at line 1, column ${column}.  ${found}`);
    }
    const [, blank, text, word, number, sign] = match;
    if (blank !== undefined) continue;
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replace(/\\([\s\S])/g, '$1'), column });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, column });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, column });
    else tokens.push({ kind: 'sign', text: sign ?? '', column });
  }
  return tokens;
}
