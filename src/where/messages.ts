import { EOF, type IRecognitionException, type IToken, tokenMatcher } from 'chevrotain';
import { cutText, type ErrorDetail, nearestName } from '../errors.ts';
import { And, Comma, LeftParen, type Mistake, Name, Null, Or, RightParen } from './tokens.ts';

/** A fault of a text, as the caller reads it: its position, what was found, and what was expected. */
export type PositionedDetail = ErrorDetail & { readonly position: number };

/** The kinds of text that can be parsed, as messages name them. */
export type TextKind = 'filter' | 'order' | 'field list' | 'statement';

interface Explanation {
  readonly message: string;
  readonly expected: readonly string[];
}

const MISTAKES: Record<Mistake, (image: string) => Explanation> = {
  UnterminatedText: () => ({
    message: "This text has no closing quote. A quote inside a text is written twice: 'O''Neil'.",
    expected: ["'"],
  }),
  DoubleQuoted: (image) => {
    const text = `'${image.replaceAll('"', '').replaceAll("'", "''")}'`;
    return { message: `Write text in single quotes: ${text}, not ${image}.`, expected: [text] };
  },
  TypographicQuote: (image) => ({
    message: `${image} is a typographic quote. Write text in straight single quotes: 'text'.`,
    expected: ["'"],
  }),
  DoubleEquals: (image) => ({ message: `Write '=' for equality, not '${image}'.`, expected: ['='] }),
  DoubleAmpersand: (image) => ({ message: `Write AND instead of '${image}'.`, expected: ['AND'] }),
  DoublePipe: (image) => ({ message: `Write OR instead of '${image}'.`, expected: ['OR'] }),
  EmptyName: () => ({ message: 'A field name in backticks needs at least one character.', expected: ['field'] }),
  UnterminatedName: () => ({ message: 'This field name has no closing backtick.', expected: ['`'] }),
};

/** Returns the fault for a habit from another language. */
export function explainMistake(name: Mistake, token: IToken): PositionedDetail {
  return { position: token.startOffset, length: token.image.length, ...MISTAKES[name](cutText(token.image)) };
}

const VALUES = ["'text'", 'a number', 'TRUE', 'FALSE', 'a date', 'a date-time'];
const OPERATORS = [
  ...['=', '!=', '<', '<=', '>', '>='],
  ...['IN', 'LIKE', 'BETWEEN', 'IS NULL', 'NOT IN', 'NOT LIKE', 'IS NOT NULL'],
];

/** The continuation that each rule of the grammar expects where it stops. */
const EXPECTED: Readonly<Record<string, Explanation>> = {
  literal: { message: 'Expected a value', expected: VALUES },
  predicate: { message: 'Expected an operator', expected: OPERATORS },
  unary: { message: 'Expected a field, NOT or (', expected: ['field', 'NOT', '('] },
  field: { message: 'Expected a field name', expected: ['field'] },
  parenthesised: { message: 'Expected AND, OR or )', expected: ['AND', 'OR', ')'] },
  nullTest: { message: 'Expected NULL or NOT NULL after IS', expected: ['NULL', 'NOT NULL'] },
  likeness: { message: "Expected a pattern in single quotes after LIKE, such as 'a%'", expected: ["'text'"] },
  membership: { message: "Expected a list in parentheses after IN, such as ('a', 'b')", expected: ['(', ',', ')'] },
  range: { message: 'Expected AND and a second value after BETWEEN', expected: ['AND'] },
  statement: {
    message: 'Expected SELECT fields FROM object [WHERE …] [ORDER BY …] [LIMIT n]',
    expected: ['SELECT', 'FROM', 'WHERE', 'ORDER BY', 'LIMIT'],
  },
};

/** The possible continuations where a text could have ended. */
const EXPECTED_AT_END: Readonly<Record<TextKind, Explanation>> = {
  filter: { message: 'Expected AND, OR or the end of the filter', expected: ['AND', 'OR', 'end'] },
  order: { message: 'Expected ASC, DESC, a comma or the end', expected: ['ASC', 'DESC', ',', 'end'] },
  'field list': { message: 'Expected a comma or the end of the list', expected: [',', 'end'] },
  statement: {
    message: 'Expected WHERE, ORDER BY, LIMIT or the end of the statement',
    expected: ['WHERE', 'ORDER BY', 'LIMIT', 'end'],
  },
};

/** Returns the fault for an error of the parser. */
export function explainSyntaxError(error: IRecognitionException, what: TextKind, text: string): PositionedDetail {
  const { token } = error;
  const atEnd = tokenMatcher(token, EOF);
  const range = { position: atEnd ? text.length : token.startOffset, length: atEnd ? 0 : token.image.length };
  const rule = ruleOf(error);
  const hint = HINTS.find(({ applies }) => applies(error, rule));
  const image = cutText(token.image);
  if (hint !== undefined) return { ...range, message: hint.message(image), expected: hint.expected(image) };
  const { message, expected } = (rule && EXPECTED[rule]) || EXPECTED_AT_END[what];
  const found = atEnd ? 'the end' : `'${image}'`;
  const nearest = rule === 'predicate' && !atEnd ? nearestName(token.image, ['LIKE', 'BETWEEN']) : undefined;
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return {
    ...range,
    message: `${message}, found ${found}.${suggestion}`,
    expected,
    ...(nearest !== undefined && { nearest }),
  };
}

/** Lists that need a first member, by the rule that reads a member. */
const MEMBER_RULES: Readonly<Record<string, string>> = { membership: 'literal', orderBy: 'field', fieldList: 'field' };

/** Returns the innermost rule at the error; undefined when the text could have ended there. */
function ruleOf(error: IRecognitionException): string | undefined {
  const innermost = error.context.ruleStack.at(-1) ?? '';
  const member = error.name === 'EarlyExitException' ? MEMBER_RULES[innermost] : undefined;
  return member ?? error.context.ruleStack.findLast((name) => Object.hasOwn(EXPECTED, name));
}

/** Mistakes that deserve more than "expected a value". */
interface Hint {
  readonly applies: (error: IRecognitionException, rule: string | undefined) => boolean;
  /** Both receive the found text, cut if it is long. */
  readonly message: (image: string) => string;
  readonly expected: (image: string) => readonly string[];
}

/** Operators as other languages spell them. */
const FOREIGN_OPERATORS = new Map([
  ['eq', '='],
  ['ne', '!='],
  ['lt', '<'],
  ['le', '<='],
  ['gt', '>'],
  ['ge', '>='],
]);

const nativeOperator = (image: string) => FOREIGN_OPERATORS.get(image.toLowerCase());
const isWord = (token: IToken) => tokenMatcher(token, Name) && !tokenMatcher(token, And) && !tokenMatcher(token, Or);

const HINTS: readonly Hint[] = [
  {
    applies: ({ token }, rule) => rule === 'literal' && tokenMatcher(token, Null),
    message: () => 'A comparison with NULL never matches. Use IS NULL or IS NOT NULL.',
    expected: () => ['IS NULL', 'IS NOT NULL'],
  },
  {
    applies: ({ token }, rule) => rule === 'literal' && isWord(token),
    message: (image) => `Write text in single quotes: '${image}'.`,
    expected: (image) => [`'${image}'`],
  },
  {
    applies: ({ token }, rule) => rule === 'predicate' && nativeOperator(token.image) !== undefined,
    message: (image) => `Write '${nativeOperator(image)}' instead of '${image}'.`,
    expected: (image) => [nativeOperator(image) ?? ''],
  },
  {
    applies: (error, rule) => isClosed(error) && rule === 'literal' && tokenMatcher(previous(error), LeftParen),
    message: () => 'IN needs at least one value.',
    expected: () => VALUES,
  },
  {
    applies: (error, rule) => isClosed(error) && rule === 'literal' && tokenMatcher(previous(error), Comma),
    message: () => 'Expected a value after the comma.',
    expected: () => VALUES,
  },
];

function isClosed({ token }: IRecognitionException): boolean {
  return tokenMatcher(token, RightParen);
}

function previous(error: IRecognitionException): IToken {
  return 'previousToken' in error ? (error.previousToken as IToken) : error.token;
}
