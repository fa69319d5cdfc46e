import { EOF, type IRecognitionException, type IToken, tokenMatcher } from 'chevrotain';
import { type ErrorDetail, nearestName } from '../errors.ts';
import { Comma, LeftParen, type Mistake, Name, Null, RightParen } from './tokens.ts';

/** What the caller reads when a filter cannot be parsed: where, what was found, what was expected. */
export type PositionedDetail = ErrorDetail & { readonly position: number };

const MISTAKES: Record<Mistake, (image: string) => string> = {
  UnterminatedText: () => "This text has no closing quote. A quote inside a text is written twice: 'O''Neil'.",
  DoubleQuoted: (image) =>
    `Text stands in single quotes: '${image.replaceAll('"', '').replaceAll("'", "''")}', not ${image}.`,
  TypographicQuote: (image) => `${image} is a typographic quote; text stands in straight single quotes: 'text'.`,
  DoubleEquals: (image) => `Equality is written '=', not '${image}'.`,
  DoubleAmpersand: (image) => `Write AND instead of '${image}'.`,
  DoublePipe: (image) => `Write OR instead of '${image}'.`,
  EmptyName: () => 'A field name in backticks needs at least one character.',
  UnterminatedName: () => 'This field name has no closing backtick.',
};

export function explainMistake(name: Mistake, token: IToken): PositionedDetail {
  return { position: token.startOffset, length: token.image.length, message: MISTAKES[name](token.image) };
}

const OPERATORS = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'IN',
  'LIKE',
  'BETWEEN',
  'IS NULL',
  'NOT IN',
  'NOT LIKE',
  'IS NOT NULL',
];
const VALUES = ["'text'", 'a number', 'TRUE', 'FALSE', 'a date', 'a date-time'];

interface Expectation {
  readonly text: string;
  readonly expected: readonly string[];
}

const EXPECTED: Record<string, Expectation> = {
  literal: { text: 'Expected a value', expected: VALUES },
  predicate: { text: 'Expected an operator', expected: OPERATORS },
  unary: { text: 'Expected a field, NOT or (', expected: ['field', 'NOT', '('] },
  field: { text: 'Expected a field name', expected: ['field'] },
  parenthesised: { text: 'Expected AND, OR or )', expected: ['AND', 'OR', ')'] },
  nullTest: { text: 'Expected NULL or NOT NULL after IS', expected: ['NULL', 'NOT NULL'] },
  likeness: { text: "Expected a pattern in single quotes after LIKE, such as 'a%'", expected: ["'text'"] },
  membership: { text: "Expected a list in parentheses after IN, such as ('a', 'b')", expected: ['(', ',', ')'] },
  range: { text: 'Expected AND and a second value after BETWEEN', expected: ['AND'] },
  where: { text: 'Expected AND, OR or the end of the filter', expected: ['AND', 'OR', 'end'] },
  orderBy: { text: 'Expected ASC, DESC, a comma or the end', expected: ['ASC', 'DESC', ',', 'end'] },
  fieldList: { text: 'Expected a comma or the end of the list', expected: [',', 'end'] },
  statement: {
    text: 'Expected SELECT fields FROM object [WHERE …] [ORDER BY …] [LIMIT n]',
    expected: ['SELECT', 'FROM', 'WHERE', 'ORDER BY', 'LIMIT'],
  },
};

export function explainSyntaxError(error: IRecognitionException, text: string): PositionedDetail {
  const { token } = error;
  const atEnd = tokenMatcher(token, EOF);
  const position = atEnd ? text.length : token.startOffset;
  const length = atEnd ? 0 : token.image.length;
  const hint = HINTS.find(({ applies }) => applies(error));
  if (hint !== undefined) return { position, length, message: hint.message(token) };
  const rule = error.context.ruleStack.findLast((name) => name in EXPECTED) ?? 'where';
  const { text: expectation, expected } = EXPECTED[rule] ?? { text: 'Unexpected text', expected: [] };
  const found = atEnd ? 'the end' : `'${token.image}'`;
  const nearest = rule === 'predicate' && !atEnd ? nearestName(token.image, ['LIKE', 'BETWEEN']) : undefined;
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const message = `${expectation}, found ${found}.${suggestion}`;
  return { position, length, message, expected, ...(nearest !== undefined && { nearest }) };
}

interface Hint {
  readonly applies: (error: IRecognitionException) => boolean;
  readonly message: (token: IToken) => string;
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

const foreignOperator = ({ image }: IToken) => FOREIGN_OPERATORS.get(image.toLowerCase());

const innermost = (error: IRecognitionException) => error.context.ruleStack.at(-1);

/** Slips that deserve more than "expected a value". */
const HINTS: readonly Hint[] = [
  {
    applies: (error) => innermost(error) === 'literal' && tokenMatcher(error.token, Null),
    message: () => 'A comparison with NULL never matches. Use IS NULL or IS NOT NULL.',
  },
  {
    applies: (error) => innermost(error) === 'literal' && tokenMatcher(error.token, Name),
    message: ({ image }) => `Text stands in single quotes: '${image}'.`,
  },
  {
    applies: (error) => innermost(error) === 'predicate' && foreignOperator(error.token) !== undefined,
    message: (token) => `Write '${foreignOperator(token)}' instead of '${token.image}'.`,
  },
  {
    applies: (error) =>
      tokenMatcher(error.token, RightParen) &&
      innermost(error) === 'membership' &&
      tokenMatcher(previous(error), LeftParen),
    message: () => 'IN needs at least one value.',
  },
  {
    applies: (error) =>
      tokenMatcher(error.token, RightParen) && innermost(error) === 'literal' && tokenMatcher(previous(error), Comma),
    message: () => 'Expected a value after the comma.',
  },
];

function previous(error: IRecognitionException): IToken {
  return 'previousToken' in error ? (error.previousToken as IToken) : error.token;
}
