import { infix, type LikePattern, type LikeWriter, plainText } from '#connector';
import { escapeCharacter, quote } from './literals.ts';

const like: LikeWriter = (field, _, { parts }) => `${field} LIKE '${parts.map(printPart).join('')}'`;

/**
 * Filters → the WHERE clause of SOQL. Source: SOQL and SOSL Reference, "Condition Expression Syntax".
 *
 * Null: nothing official says whether `!=`, NOT IN and NOT LIKE find records without a value (they do), and ours never match
 * them. So they always come with `… != null`, which is right either way: the planner sees to it. Boolean fields are never null, but
 * `= null` finds the false ones, so null is never written beside them.
 *
 * Every group is in parentheses: AND and OR must not be mixed without them, and NOT must stand inside a pair of its own.
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
