import type { IToken, TokenType } from 'chevrotain';
import type { ComparisonOperator, FieldRef, Filter, Literal, Loc } from './ast.ts';
import { DateLiteral, DateTimeLiteral, NumberLiteral, QuotedName, Text, True } from './tokens.ts';

/** The functions below turn tokens into nodes of the tree. */

/** Returns a group of operands, or the operand itself when there is only one. */
export function group(kind: 'and' | 'or', operands: readonly Filter[]): Filter {
  const [first] = operands;
  const last = operands.at(-1);
  if (first === undefined || last === undefined) throw new Error(`An '${kind}' without operands.`);
  return operands.length === 1 ? first : { kind, operands, loc: span(first.loc, last.loc) };
}

/** Returns the range of a token. */
export function locOf(token: IToken): Loc {
  return { offset: token.startOffset, length: token.image.length };
}

/** Returns the range from the beginning of the first to the end of the last. */
export function span(first: Loc, last: Loc): Loc {
  return { offset: first.offset, length: last.offset + last.length - first.offset };
}

/** Returns a field from the tokens of its name. */
export function fieldRef(parts: readonly IToken[]): FieldRef {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) throw new Error('A field without a name.');
  if (parts.length === 1) return { name: nameOf(first), loc: locOf(first) };
  return { name: parts.map(nameOf).join('.'), loc: span(locOf(first), locOf(last)) };
}

function nameOf(token: IToken): string {
  return token.tokenType === QuotedName ? token.image.slice(1, -1) : token.image;
}

/** Returns the operator of a token; `<>` is `!=`. */
export function comparisonOperator(image: string): ComparisonOperator {
  // The lexer lets only the members of ComparisonOperator and its synonym through.
  return image === '<>' ? '!=' : (image as ComparisonOperator);
}

/** Returns the literal of a text in single quotes, with its quotes resolved. */
export function textLiteral(token: IToken): Literal {
  return { kind: 'string', text: token.image.slice(1, -1).replaceAll("''", "'"), loc: locOf(token) };
}

const LITERAL_KINDS = new Map<TokenType, 'number' | 'date' | 'datetime'>([
  [NumberLiteral, 'number'],
  [DateLiteral, 'date'],
  [DateTimeLiteral, 'datetime'],
]);

/** Returns the literal of a token. */
export function literal(token: IToken): Literal {
  if (token.tokenType === Text) return textLiteral(token);
  const kind = LITERAL_KINDS.get(token.tokenType);
  if (kind !== undefined) return { kind, text: token.image, loc: locOf(token) };
  return { kind: 'boolean', value: token.tokenType === True, loc: locOf(token) };
}
