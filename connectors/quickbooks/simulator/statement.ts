import { type Fault, readSeparated, readTokens, type TextToken } from '#connector/simulator';
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

type Kind = 'text' | 'word' | 'number' | 'sign';

/** The tokens. The text of a quoted literal still has its escapes. */
const TOKENS =
  /'(?<text>(?:[^'\\]|\\[\s\S])*)'|(?<word>[A-Za-z_][\w.]*)|(?<number>-?\d+(?:\.\d+)?)|(?<sign>!=|<=|>=|[=<>(),*])/;

const USUAL_SIZE = 100;
const MOST = 1000;
const OPERATORS = ['=', '<', '>', '<=', '>='] as const;

/** Words and operators of SQL that this language does not support. */
const REFUSED: readonly string[] = ['or', 'not', 'is', '!=', 'between'];

/**
 * Parses a statement.
 * @throws Fault 4000 for a syntax error; 4001 for an unsupported part of SQL
 */
export function parseStatement(query: string): Statement {
  if (query.trim() === '') throw unparsable('The query provided was empty');
  const { isNext, take, need, fail, needEnd } = readTokens<Kind>(query, TOKENS, refuse);
  const listOf = <Item>(read: () => Item) => readSeparated(read, () => take('sign', ','));

  function readFields(): Pick<Statement, 'fields' | 'isCount'> {
    if (take('sign', '*') || isNext('word', 'from')) return { fields: [], isCount: false };
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
    const operator = OPERATORS.find((sign) => take('sign', sign) !== undefined);
    if (operator === undefined) throw fail('an operator');
    return operator;
  }

  function readLiteral(): Literal {
    const quoted = take('text');
    if (quoted !== undefined) return { text: quoted.text.replace(/\\([\s\S])/g, '$1'), isQuoted: true };
    const { text } = take('number') ?? need('word', 'true', 'false');
    return { text: text.toLowerCase(), isQuoted: false };
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
  need('word', 'from');
  const entity = need('word').text;
  const conditions = take('word', 'where') ? readSeparated(readCondition, () => take('word', 'and')) : [];
  const isOrdered = take('word', 'orderby') ?? (take('word', 'order') && need('word', 'by'));
  const order = isOrdered ? listOf(readTerm) : [];
  const start = readCount('startposition', 1);
  const size = readCount('maxresults', USUAL_SIZE);
  if (size > MOST) throw invalidQuery(`value ${size} is too large. Max allowed value is ${MOST}`);
  needEnd();
  return { entity, ...selection, conditions, order, start, size };
}

function refuse({ kind, text, at }: TextToken<Kind>): Fault {
  if (kind === 'unknown') {
    const found = `Encountered: "${text[0]}" (${text.charCodeAt(0)}), after : ""`;
    return unparsable(`Invalid content. Lexical error at line 1, column ${at + 1}.  ${found}`);
  }
  if (REFUSED.includes(text.toLowerCase())) return invalidQuery(`operator ${text} is not supported`);
  const [shown, column] = kind === 'end' ? ['<EOF>', at] : [text, at + 1];
  return unparsable(`Encountered " "${shown}" "${shown} "" at line 1, column ${column}.`);
}
