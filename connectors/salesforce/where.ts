import { infix, type LikePattern, type LikeWriter, plainText } from '#connector';
import { escapeCharacter, quote } from './literals.ts';

const like: LikeWriter = (field, _, { parts }) => `${field} LIKE '${parts.map(printPart).join('')}'`;

/**
 * Prints a filter as the WHERE clause of SOQL. Source: SOQL and SOSL Reference, "Condition Expression Syntax".
 *
 * Null: no official document says whether `!=`, NOT IN and NOT LIKE find records without a value (they do), and our comparisons never match
 * null. So they always come with `… != null`, which is correct in either case. The planner adds it. Boolean fields are never null, but `=
 * null` finds the records with false, so no condition compares them with null.
 *
 * Every group has parentheses: AND and OR must not be mixed without them, and NOT requires parentheses of its own.
 */
export const translator = infix({
  and: 'AND',
  or: 'OR',
  words: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
  literal: (value) => (value.kind === 'string' ? quote(value.value) : plainText(value)),
  in: (field, literals) => `${field} IN (${literals.join(', ')})`,
  notIn: (field, literals) => `${field} NOT IN (${literals.join(', ')})`,
  like: { literal: like, prefix: like, suffix: like, contains: like, pattern: like },
  notLike: (condition) => `(NOT ${condition})`,
  isNull: (field) => `${field} = null`,
  isNotNull: (field) => `${field} != null`,
});

function printPart(part: LikePattern['parts'][number]): string {
  if (part.kind === 'any') return '%';
  if (part.kind === 'one') return '_';
  return part.text.replace(/['\\%_\p{Cc}]/gu, escapeInPattern);
}

function escapeInPattern(character: string): string {
  return character === '%' || character === '_' ? `\\${character}` : escapeCharacter(character);
}
