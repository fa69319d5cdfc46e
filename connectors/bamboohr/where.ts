import { infix, plainText, quoteDoubled } from '#connector';

/**
 * Prints the filter of a dataset query. It has the operators of OData, `and` or `or` but never both in one filter, no `not in` and no null.
 * Parentheses are not documented, and are not needed with one kind of group. OData doubles a quote inside a text, and a backslash stands
 * for itself.
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
