import { infix, plainText, quoteDoubled } from '#connector';

/**
 * The filter of a dataset query: OData words, `and` or `or` but never both in one filter, no `not in`, no null.
 * Parentheses are not documented and, with one kind of group, not needed. OData doubles a quote inside a text; a backslash means itself.
 */
export const datasetTranslator = infix({
  and: 'and',
  or: 'or',
  parentheses: 'none',
  words: { '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' },
  literal: (value) =>
    value.kind === 'number' || value.kind === 'boolean' ? plainText(value) : quoteDoubled(plainText(value)),
  in: (field, literals) => `${field} in (${literals.join(',')})`,
});
