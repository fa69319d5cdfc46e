import type { Filter, Literal } from './ast.ts';
import type { Checked } from './condition.ts';
import { printLikePattern } from './like.ts';
import type { LikePattern, Value } from './model.ts';

type Node = Filter | Checked;
type Printer<Kind extends Node['kind']> = (node: Extract<Node, { kind: Kind }>) => string;

const PRINTERS: { readonly [Kind in Node['kind']]: Printer<Kind> } = {
  and: ({ operands }) => operands.map((operand) => nested(operand)).join(' AND '),
  or: ({ operands }) => operands.map((operand) => nested(operand)).join(' OR '),
  not: ({ operand }) => `NOT (${print(operand)})`,
  compare: ({ field, operator, value }) => `${printName(field.name)} ${operator} ${printLiteral(value)}`,
  in: ({ field, negated, values }) =>
    `${printName(field.name)} ${not(negated)}IN (${values.map(printLiteral).join(', ')})`,
  like: ({ field, negated, pattern }) => `${printName(field.name)} ${not(negated)}LIKE ${printPattern(pattern)}`,
  isNull: ({ field, negated }) => `${printName(field.name)} IS ${not(negated)}NULL`,
  between: ({ field, negated, low, high }) =>
    `${printName(field.name)} ${not(negated)}BETWEEN ${printLiteral(low)} AND ${printLiteral(high)}`,
};

/** Returns the text of a filter in canonical spelling. Parsing the text results in the same tree. */
export function print(node: Node): string {
  // Each printer takes the node its key names; the compiler cannot follow a look-up by `node.kind`.
  return (PRINTERS[node.kind] as (node: Node) => string)(node);
}

/** Parentheses around a group in a group stay even where precedence makes them redundant, so that the tree survives. */
function nested(operand: Node): string {
  return operand.kind === 'and' || operand.kind === 'or' ? `(${print(operand)})` : print(operand);
}

const not = (negated: boolean) => (negated ? 'NOT ' : '');

const PLAIN_NAME =
  /^(?:-(?=[\p{L}_$@]))?[\p{L}_$@][\p{L}\p{M}\p{N}_$@-]*(?:\.(?:-(?=[\p{L}_$@]))?[\p{L}_$@][\p{L}\p{M}\p{N}_$@-]*)*$/u;

/** Returns a field name as the language writes it, in backticks where that is necessary. */
export function printName(name: string): string {
  return PLAIN_NAME.test(name) ? name : `\`${name}\``;
}

function printPattern(pattern: Literal | LikePattern): string {
  return 'parts' in pattern ? quoteText(printLikePattern(pattern)) : printLiteral(pattern);
}

function printLiteral(literal: Literal | Value): string {
  if (literal.kind === 'boolean') return literal.value ? 'TRUE' : 'FALSE';
  if (literal.kind === 'string') return quoteText('value' in literal ? literal.value : literal.text);
  return literal.text;
}

/** Returns a text as the language writes it: in single quotes, with quotes inside it doubled. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
