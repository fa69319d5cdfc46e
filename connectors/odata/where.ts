import {
  type ComparisonOperator,
  infix,
  type LikePattern,
  type PushedField,
  plainText,
  type Translator,
  type Value,
} from '#connector';
import { literalOf } from './literals.ts';

/**
 * Prints a filter as OData 4.0 `$filter`. Source: OData URL Conventions 4.01, section 5.1.1.
 *
 * Null: OData has two-valued comparisons (`null ne 'x'` is true, `null lt 1` is false), the SQL servers behind it often have three-valued
 * ones, and our comparisons never match null. So `ne` always comes with `… ne null`, which is correct under both. The planner adds it. Only
 * functions are negated with `not`, because `not (null lt 1)` is true in OData and unknown in SQL.
 *
 * `in` was introduced by OData 4.01, and many services do not support it. So a list becomes a chain of `or`.
 */
const language = infix({
  and: 'and',
  or: 'or',
  words: { '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' },
  field: propertyPath,
  literal: printLiteral,
  like: {
    prefix: (path, literal) => `startswith(${path},${literal})`,
    suffix: (path, literal) => `endswith(${path},${literal})`,
    contains: (path, literal) => `contains(${path},${literal})`,
  },
  notLike: (condition) => `not ${condition}`,
  isNull: (path) => `${path} eq null`,
  isNotNull: (path) => `${path} ne null`,
});

export const translator: Translator<string> = { ...language, compare, like, terms: countTerms };

/** Returns the number of comparisons and functions. One predicate may become several. */
function countTerms(filter: string): number {
  const withoutTexts = filter.replaceAll(/'(?:[^']|'')*'/g, "''");
  return withoutTexts.match(/ (?:eq|ne|lt|le|gt|ge) |\b(?:contains|startswith|endswith)\(/g)?.length ?? 0;
}

/** Returns the path of a property. Nested properties have slashes in OData. */
function propertyPath(field: PushedField): string {
  return field.native.replaceAll('.', '/');
}

function typeName(field: PushedField): string {
  return field.nativeType ?? 'Edm.String';
}

function printLiteral(value: Value, field: PushedField): string {
  const literal = literalOf(typeName(field), plainText(value));
  // The domain of the field excludes such values. Without quotes they could become syntax.
  if (literal === undefined) throw new Error(`'${plainText(value)}' is not a value of the type ${typeName(field)}.`);
  return literal;
}

function compare(field: PushedField, operator: ComparisonOperator, value: Value): string {
  if (value.kind === 'datetime' && value.nanos > 0) return compareFinely(field, operator, value);
  const day = operator === '=' && field.filter?.['='] === 'superset' ? dayOf(plainText(value)) : undefined;
  if (day !== undefined) return like(field, patternOf('prefix', day), false);
  if (typeName(field) === 'Edm.Byte' && !EQUALITIES.has(operator)) return compareByte(field, operator, value);
  return language.compare(field, operator, value);
}

const EQUALITIES: ReadonlySet<ComparisonOperator> = new Set(['=', '!=']);

/**
 * Prints a comparison with an Edm.Byte. Apache Olingo reads `5` as an Edm.SByte, whose order it does not compare with an Edm.Byte. It
 * accepts a decimal, as others do. Source: OData ABNF 4.01: a literal has no type.
 */
function compareByte(field: PushedField, operator: ComparisonOperator, value: Value): string {
  return `${language.compare(field, operator, value)}.0`;
}

/**
 * Returns the day of a text in the format of a date-time. SAP CAP on SQLite reads such a text as a time and then finds no row, so the
 * filter asks for the day only.
 */
function dayOf(text: string): string | undefined {
  return /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}/.exec(text)?.[1];
}

/**
 * Prints a comparison with a time that is finer than milliseconds. Some services (SAP CAP on SQLite) only know milliseconds and truncate
 * the literal. An additional condition corrects the effect of the truncation; without a truncation it has no effect.
 */
function compareFinely(
  field: PushedField,
  operator: ComparisonOperator,
  value: Extract<Value, { kind: 'datetime' }>,
): string {
  const comparison = language.compare(field, operator, value);
  const path = propertyPath(field);
  const cut = value.text.replace(/(\.\d{3})\d*/, '$1');
  switch (operator) {
    case '<':
    case '!=':
      return `(${comparison} or ${path} eq ${cut})`;
    case '>=':
    case '=':
      return `(${comparison} and ${path} ne ${cut})`;
    case '<=':
    case '>':
      return comparison;
  }
}

/**
 * Prints a pattern. Apache Olingo returns 400 for a function of a property if any row has no value, so a test for null is added. A negation
 * already has one.
 */
function like(field: PushedField, pattern: LikePattern, negated: boolean): string {
  if (pattern.form === 'literal') {
    return compare(field, negated ? '!=' : '=', { kind: 'string', value: pattern.text });
  }
  const day = field.filter?.LIKE === 'superset' ? dayOf(pattern.text) : undefined;
  const matches = language.like(field, day === undefined ? pattern : patternOf('contains', day), negated);
  return negated || field.nullable === false ? matches : language.and([language.isNull(field, true), matches]);
}

function patternOf(form: 'prefix' | 'contains', text: string): LikePattern {
  return { form, text, parts: [] };
}
