import { createToken, Lexer, type TokenType } from 'chevrotain';

/**
 * The tokens of the language. Keywords are contextual: each is also a `Name`, and the grammar decides by position. So `from='+15550100'`
 * and `like like 'a%'` are filters on fields with these names.
 */

/** Letters, digits, `_ $ - @`; the first character is no digit, and after a leading minus the next one is no digit either. */
const NAME = /(?:-(?=[\p{L}_$@]))?[\p{L}_$@][\p{L}\p{M}\p{N}_$@-]*/uy;

/** A field name without backticks. */
export const Name = createToken({
  name: 'Name',
  // A function, because the lexer would drop the `u` flag of a plain pattern.
  pattern: (text, offset) => {
    NAME.lastIndex = offset;
    const match = NAME.exec(text);
    return match && [match[0]];
  },
  start_chars_hint: ['-', '_', '$', '@', ...lettersAndBeyond()],
  line_breaks: false,
});

/** The lexer cannot read `\p{L}` for its table of first characters, so ASCII letters and everything beyond ASCII may start a name. */
function lettersAndBeyond(): (string | number)[] {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const beyondAscii = Array.from({ length: 0x10000 - 0x80 }, (_, index) => index + 0x80);
  return [...letters, ...letters.toUpperCase(), ...beyondAscii];
}

/** A field name in backticks. */
export const QuotedName = createToken({ name: 'QuotedName', pattern: /`[^`]+`/, start_chars_hint: ['`'] });

const keywords: TokenType[] = [];

function keyword(word: string): TokenType {
  const token = createToken({ name: word, pattern: new RegExp(word, 'i'), longer_alt: Name, categories: [Name] });
  keywords.push(token);
  return token;
}

export const And = keyword('AND');
export const Or = keyword('OR');
export const Not = keyword('NOT');
export const In = keyword('IN');
export const Like = keyword('LIKE');
export const Is = keyword('IS');
export const Null = keyword('NULL');
export const Between = keyword('BETWEEN');
export const True = keyword('TRUE');
export const False = keyword('FALSE');
export const Select = keyword('SELECT');
export const From = keyword('FROM');
export const Where = keyword('WHERE');
export const Order = keyword('ORDER');
export const By = keyword('BY');
export const Asc = keyword('ASC');
export const Desc = keyword('DESC');
export const Limit = keyword('LIMIT');

// ORDER begins with OR, so the longer word must be tried first.
keywords.sort((a, b) => b.name.length - a.name.length);

/** Returns whether a text is a word of the language, in any case. */
export function isKeyword(text: string): boolean {
  return keywords.some(({ name }) => name === text.toUpperCase());
}

export const Comparison = createToken({ name: 'Comparison', pattern: /<=|>=|<>|!=|=|<|>/ });
export const LeftParen = createToken({ name: 'LeftParen', pattern: '(' });
export const RightParen = createToken({ name: 'RightParen', pattern: ')' });
export const Comma = createToken({ name: 'Comma', pattern: ',' });
export const Dot = createToken({ name: 'Dot', pattern: '.' });
export const Star = createToken({ name: 'Star', pattern: '*' });

export const Text = createToken({ name: 'Text', pattern: /'(?:[^']|'')*'(?!')/ });
export const NumberLiteral = createToken({
  name: 'NumberLiteral',
  pattern: /[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/,
});
export const DateLiteral = createToken({ name: 'DateLiteral', pattern: /\d{4}-\d{2}-\d{2}/ });
export const DateTimeLiteral = createToken({
  name: 'DateTimeLiteral',
  pattern: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?/i,
});

/** Habits from other languages. They are tokens, so that each has a message of its own. */
const MISTAKE_PATTERNS = {
  UnterminatedText: /'(?:[^']|'')*/,
  DoubleQuoted: /"[^"]*"?/,
  TypographicQuote: /[\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a]/,
  DoubleEquals: /===?/,
  DoubleAmpersand: /&&?/,
  DoublePipe: /\|\|?/,
  EmptyName: /``/,
  UnterminatedName: /`[^`]*/,
} as const;

/** The name of a habit from another language. */
export type Mistake = keyof typeof MISTAKE_PATTERNS;

const mistakes = Object.entries(MISTAKE_PATTERNS).map(([name, pattern]) =>
  createToken({ name, pattern, line_breaks: true }),
);

/** Returns whether a token name is that of a habit from another language. */
export function isMistake(name: string): name is Mistake {
  return name in MISTAKE_PATTERNS;
}

export const literals = [Text, NumberLiteral, DateLiteral, DateTimeLiteral] as const;

const mistake = (name: Mistake): TokenType[] => mistakes.filter((token) => token.name === name);

/** All tokens. The first pattern that matches wins, so their order matters. */
export const tokenTypes: TokenType[] = [
  createToken({ name: 'Blank', pattern: /\s+/, group: Lexer.SKIPPED }),
  DateTimeLiteral,
  DateLiteral,
  NumberLiteral,
  Text,
  ...mistake('UnterminatedText'),
  ...mistake('DoubleEquals'),
  Comparison,
  LeftParen,
  RightParen,
  Comma,
  Dot,
  Star,
  ...keywords,
  Name,
  QuotedName,
  ...mistakes.filter((token) => token.name !== 'UnterminatedText' && token.name !== 'DoubleEquals'),
];

export const lexer = new Lexer(tokenTypes, { positionTracking: 'onlyOffset', ensureOptimizations: true });
