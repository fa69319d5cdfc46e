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
 * Filters → OData 4.0 `$filter`. Source: OData URL Conventions 4.01, section 5.1.1.
 *
 * Null: OData has two-valued comparisons (`null ne 'x'` is true, `null lt 1` is false), SQL servers behind it often three-valued
 * ones, and ours never match null. So `ne` always comes with `… ne null`, which is right under both: the planner sees to it. There is
 * no `not` over conditions but functions, because `not (null lt 1)` is true here and unknown there.
 *
 * `in` came with OData 4.01 and many services do not have it: a list becomes an or-chain.
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

/** Comparisons and functions, of which one predicate may become several. */
function countTerms(filter: string): number {
  const withoutTexts = filter.replaceAll(/'(?:[^']|'')*'/g, "''");
  return withoutTexts.match(/ (?:eq|ne|lt|le|gt|ge) |\b(?:contains|startswith|endswith)\(/g)?.length ?? 0;
}

/** Nested properties have slashes in OData. */
function propertyPath(field: PushedField): string {
  return field.native.replaceAll('.', '/');
}

function typeName(field: PushedField): string {
  return field.nativeType ?? 'Edm.String';
}

function printLiteral(value: Value, field: PushedField): string {
  const literal = literalOf(typeName(field), plainText(value));
  // The domain of the field keeps such values away; written bare they could become syntax.
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
 * Apache Olingo takes `5` for an Edm.SByte, which it does not order beside an Edm.Byte; a decimal it does, as others do.
 * Source: OData ABNF 4.01: a literal's type is not part of it.
 */
function compareByte(field: PushedField, operator: ComparisonOperator, value: Value): string {
  return `${language.compare(field, operator, value)}.0`;
}

/** SAP CAP on SQLite reads text in the shape of a date-time as an instant and then finds no such text: ask for its day. */
function dayOf(text: string): string | undefined {
  return /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}/.exec(text)?.[1];
}

/**
 * Some services (SAP CAP on SQLite) know milliseconds only and cut a finer literal down to them. What the cut would change is
 * said in addition; where nothing is cut, the addition changes nothing.
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

/** Apache Olingo answers 400 to a function of a property as soon as one row has none; a negation has its test for null already. */
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
