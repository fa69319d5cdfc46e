import type { IToken } from 'chevrotain';
import { AppError, type ErrorDetail } from '../errors.ts';
import { checkFilter } from './check.ts';
import type { Queryable } from './model.ts';
import { parseWhere } from './parse.ts';
import * as t from './tokens.ts';

// What an editor shows for a filter while it is written, by the same lexer, parser and checks as the service. Browsers load this file, so
// it must not import modules of Node.js.

/** The kind of a word. `sign` is a parenthesis, a comma or a dot; `mistake` is a habit from another language. */
export type WordKind = 'name' | 'keyword' | 'operator' | 'text' | 'number' | 'date' | 'sign' | 'mistake';

/** A word of a filter, with its range in UTF-16 units. */
export interface Word {
  readonly kind: WordKind;
  readonly offset: number;
  readonly length: number;
}

/** Returns the words of a text, also of a text with faults. */
export function wordsOf(text: string): readonly Word[] {
  const { tokens } = t.lexer.tokenize(text);
  return tokens.map((token, index) => ({
    kind: kindOf(token, tokens[index - 1], tokens[index + 1]),
    offset: token.startOffset,
    length: token.image.length,
  }));
}

/** Returns the faults of a filter for an object, 50 at most, each with its position. */
export function faultsOf(text: string, queryable: Queryable): readonly ErrorDetail[] {
  if (text.trim() === '') return [];
  return faultsOfCall(() => checkFilter(parseWhere(text), queryable));
}

/** The possible next words of a filter. */
export interface Expectation {
  /** The possible continuations in the words of the parser's messages: `field`, `AND`, `a number`, `IS NULL`… */
  readonly words: readonly string[];
  /** The name of the field of the last predicate. */
  readonly field: string | undefined;
  /** Whether the text ends with the NOT of NOT IN, NOT LIKE or NOT BETWEEN. */
  readonly isNegated: boolean;
}

/** Returns what can follow a text that ends between two words. It is empty when the last predicate has a fault. */
export function expectedAfter(text: string): Expectation {
  const words = wordsOf(text);
  const [beforeLast, last] = [words.at(-2), words.at(-1)];
  return {
    words: wordsAfter(text) ?? wordsAfter(text.slice(lastBeginning(text, words))) ?? [],
    field: lastName(text, words),
    isNegated: isNot(text, last) && beforeLast?.kind === 'name',
  };
}

const AFTER_ALL = ['AND', 'OR'];

/** Undefined where the text has a fault before its end. */
function wordsAfter(text: string): readonly string[] | undefined {
  const [fault, ...others] = faultsOfCall(() => parseWhere(text));
  if (fault === undefined) return AFTER_ALL;
  return fault.position === text.length && others.length === 0 ? (fault.expected ?? []) : undefined;
}

/** Returns the offset at which the last predicate begins. */
function lastBeginning(text: string, words: readonly Word[]): number {
  const before = words.findLast((word) => BEFORE_PREDICATE.test(imageOf(text, word)));
  return before === undefined ? 0 : before.offset + before.length;
}

const BEFORE_PREDICATE = /^(?:and|or|\()$/i;

/** Values are no names, so the last name is that of the last predicate. */
function lastName(text: string, words: readonly Word[]): string | undefined {
  const end = words.findLastIndex(({ kind }) => kind === 'name');
  if (end < 0) return undefined;
  let begin = end;
  while (words[begin - 2]?.kind === 'name' && imageOf(text, words[begin - 1]) === '.') begin -= 2;
  const images = words.slice(begin, end + 1).map((word) => imageOf(text, word).replaceAll('`', ''));
  return images.join('');
}

function isNot(text: string, word: Word | undefined): boolean {
  return word?.kind === 'keyword' && imageOf(text, word).toUpperCase() === 'NOT';
}

function imageOf(text: string, word: Word | undefined): string {
  return word === undefined ? '' : text.slice(word.offset, word.offset + word.length);
}

const KEYWORDS: ReadonlySet<unknown> = new Set([
  ...[t.And, t.Or, t.Not, t.In, t.Like, t.Is, t.Null, t.Between, t.True, t.False],
]);
const KINDS: ReadonlyMap<unknown, WordKind> = new Map<unknown, WordKind>([
  [t.Text, 'text'],
  [t.NumberLiteral, 'number'],
  [t.DateLiteral, 'date'],
  [t.DateTimeLiteral, 'date'],
  [t.Comparison, 'operator'],
  ...[t.LeftParen, t.RightParen, t.Comma, t.Dot, t.Star].map((type) => [type, 'sign'] as const),
]);

/** A keyword between the parts of a name, or before a comparison, is a name. */
function kindOf({ tokenType }: IToken, before: IToken | undefined, after: IToken | undefined): WordKind {
  if (t.isMistake(tokenType.name)) return 'mistake';
  const isName = before?.tokenType === t.Dot || after?.tokenType === t.Dot || after?.tokenType === t.Comparison;
  if (KEYWORDS.has(tokenType)) return isName ? 'name' : 'keyword';
  return KINDS.get(tokenType) ?? 'name';
}

function faultsOfCall(call: () => unknown): readonly ErrorDetail[] {
  try {
    call();
    return [];
  } catch (error) {
    if (error instanceof AppError) return (error.details ?? []).filter(({ position }) => position !== undefined);
    throw error;
  }
}
