import { infix, plainText, quoteDoubled } from '#connector';

/** Types whose values are ids, without quotes. Their domain excludes texts that are no GUIDs. */
const IDS: ReadonlySet<string | undefined> = new Set(['Uniqueidentifier', 'Lookup', 'Customer', 'Owner']);

/**
 * Prints a filter as `$filter`. Dataverse has no operator `in`, so a list becomes a chain of `or`. Its three-valued logic for missing values
 * is not documented; the planner adds a condition to `ne` that is right in any case. Source: "Filter rows using OData".
 */
export const translator = infix({
  and: 'and',
  or: 'or',
  words: { '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' },
  literal: (value, { nativeType }) =>
    value.kind === 'string' && !IDS.has(nativeType) ? quoteDoubled(value.value) : plainText(value),
  like: {
    prefix: (field, literal) => `startswith(${field},${literal})`,
    suffix: (field, literal) => `endswith(${field},${literal})`,
    contains: (field, literal) => `contains(${field},${literal})`,
  },
  notLike: (condition) => `not ${condition}`,
  isNull: (field) => `${field} eq null`,
  isNotNull: (field) => `${field} ne null`,
});
