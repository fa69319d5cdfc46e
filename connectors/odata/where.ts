import type { ComparisonOperator, LikePattern, PushedField, Translator, Value } from '#connector';
import { bracketInteger, bracketNumber, neighboursOf } from './bounds.ts';
import { literalOf, quote } from './literals.ts';

/**
 * Filters → OData 4.0 `$filter`. Source: OData URL Conventions 4.01, section 5.1.1.
 *
 * Null: OData has two-valued comparisons (`null ne 'x'` is true, `null lt 1` is false), SQL servers behind it often three-valued
 * ones, and ours never match null. So `ne` always comes with `and … ne null`, which is right under both. There is no `not` over
 * conditions, because `not (null lt 1)` is true here and unknown there; the planner folds NOT into the operators anyway.
 *
 * What a field declares decides what is written. `exact` operators say precisely what is meant. `superset` operators are written
 * so that a service that is less precise than we are (text without case or accents, decimals kept as doubles) loses no row:
 * numbers are asked for between their neighbours, and "is not" becomes "has a value".
 *
 * Functions of a property that can be null come behind a test for null: Apache Olingo answers 400 as soon as one row has none.
 *
 * `in` came with OData 4.01 and many services do not have it: a list becomes an or-chain.
 */
export const translator: Translator<string> = {
  and: (operands) => group('and', operands),
  or: (operands) => group('or', operands),
  compare,
  in: (field, values, negated) => {
    const operator = negated ? '!=' : '=';
    return group(
      negated ? 'and' : 'or',
      values.map((value) => compare(field, operator, value)),
    );
  },
  like,
  isNull: (field, negated) => `${propertyPath(field)} ${negated ? 'ne' : 'eq'} null`,
  terms: countTerms,
};

/** Comparisons and functions, of which one predicate may become several, and a list as many as it has members. */
function countTerms(filter: string): number {
  const withoutTexts = filter.replaceAll(/'(?:[^']|'')*'/g, "''");
  return withoutTexts.match(/ (?:eq|ne|lt|le|gt|ge) |\b(?:contains|startswith|endswith)\(/g)?.length ?? 0;
}

function group(word: 'and' | 'or', operands: readonly string[]): string {
  return operands.length === 1 ? operands.join('') : `(${operands.join(` ${word} `)})`;
}

/** Nested properties have slashes in OData. */
function propertyPath(field: PushedField): string {
  return field.native.replaceAll('.', '/');
}

/** True for every record that has a value. */
function anyValue(field: PushedField): string {
  return `${propertyPath(field)} ne null`;
}

function noValue(field: PushedField): string {
  return `(${propertyPath(field)} eq null and ${propertyPath(field)} ne null)`;
}

const WORDS: Readonly<Record<ComparisonOperator, string>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};

function compare(field: PushedField, operator: ComparisonOperator, value: Value): string {
  if (value.kind === 'number') return compareNumber(field, operator, value.text);
  if (value.kind === 'datetime') return compareInstant(field, operator, value);
  return compareLiteral(field, operator, textOf(value));
}

function textOf(value: Extract<Value, { kind: 'string' | 'boolean' | 'date' }>): string {
  if (value.kind === 'date') return value.text;
  return String(value.value);
}

function compareLiteral(field: PushedField, operator: ComparisonOperator, text: string): string {
  const literal = isPossible(field, text) ? literalOf(typeName(field), text) : undefined;
  // `colour = 'no such member'`: nothing can equal it, and the service would reject it.
  if (literal === undefined) return operator === '!=' ? anyValue(field) : noValue(field);
  return compareTo(field, operator, literal);
}

/** An enumeration has its members only. */
function isPossible(field: PushedField, text: string): boolean {
  return typeName(field).startsWith('Edm.') || (field.values?.includes(text) ?? false);
}

function compareTo(field: PushedField, operator: ComparisonOperator, literal: string): string {
  const path = propertyPath(field);
  if (!isExact(field, operator)) return compareWidely(field, operator, literal);
  const comparison = `${path} ${WORDS[operator]} ${comparable(field, operator, literal)}`;
  return operator === '!=' && field.nullable !== false ? `(${comparison} and ${anyValue(field)})` : comparison;
}

const EQUALITIES: ReadonlySet<ComparisonOperator> = new Set(['=', '!=']);

/**
 * Apache Olingo takes `5` for an Edm.SByte, which it does not order beside an Edm.Byte; a decimal it does, as others do.
 * Source: OData ABNF 4.01: a literal's type is not part of it.
 */
function comparable(field: PushedField, operator: ComparisonOperator, literal: string): string {
  return typeName(field) === 'Edm.Byte' && !EQUALITIES.has(operator) ? `${literal}.0` : literal;
}

/** Text and GUIDs, which declare no order. */
function compareWidely(field: PushedField, operator: ComparisonOperator, literal: string): string {
  if (operator === '!=') return anyValue(field);
  const day = operator === '=' ? dayOf(literal) : undefined;
  return day === undefined ? `${propertyPath(field)} ${WORDS[operator]} ${literal}` : match(field, 'prefix', day);
}

/** A double that a row shows rounded is not what the service compares with, so that every bound is taken a little wider. */
function compareNumberWidely(field: PushedField, operator: ComparisonOperator, text: string): string {
  const { low, high } = neighboursOf(text);
  const atLeast = `${propertyPath(field)} ge ${low}`;
  const atMost = `${propertyPath(field)} le ${high}`;
  switch (operator) {
    case '=':
      return group('and', [atLeast, atMost]);
    case '!=':
      return anyValue(field);
    case '<':
    case '<=':
      return atMost;
    case '>':
    case '>=':
      return atLeast;
  }
}

/** SAP CAP on SQLite reads text in the shape of a date-time as an instant and then finds no such text: ask for its day. */
function dayOf(literal: string): string | undefined {
  const match = /^'(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}/.exec(literal);
  return match?.[1] && quote(match[1]);
}

function isExact(field: PushedField, operator: ComparisonOperator): boolean {
  return field.filter?.[operator] === 'exact';
}

function typeName(field: PushedField): string {
  return field.nativeType ?? 'Edm.String';
}

/**
 * Services reject a literal that the property's type cannot hold, and services that keep decimals as doubles round it. So a
 * number between two possible values is replaced by the next lower one: `stock < 1.5` is `stock le 1`.
 */
function compareNumber(field: PushedField, operator: ComparisonOperator, text: string): string {
  if (!isExact(field, operator)) return compareNumberWidely(field, operator, text);
  const bracket = field.type === 'integer' ? bracketInteger(typeName(field), text) : bracketNumber(text);
  if (bracket.kind === 'possible') return compareTo(field, operator, bracket.text);
  if (operator === '=') return noValue(field);
  if (operator === '!=') return anyValue(field);
  const isBelow = operator === '<' || operator === '<=';
  if (bracket.kind === 'between') return compareTo(field, isBelow ? '<=' : '>', bracket.below);
  return isBelow === (bracket.kind === 'above all') ? anyValue(field) : noValue(field);
}

/**
 * Some services (SAP CAP on SQLite) know milliseconds only and cut a finer literal down to them. What the cut would change is
 * said in addition; where nothing is cut, the addition changes nothing.
 */
function compareInstant(field: PushedField, operator: ComparisonOperator, value: Extract<Value, { kind: 'datetime' }>) {
  const comparison = compareTo(field, operator, value.text);
  if (value.nanos === 0) return comparison;
  const path = propertyPath(field);
  const cut = value.text.replace(/(\.\d{3})\d*/, '$1');
  switch (operator) {
    case '<':
      return `(${comparison} or ${path} eq ${cut})`;
    case '>=':
    case '=':
      return `(${comparison} and ${path} ne ${cut})`;
    case '!=':
      return `(${comparison} or ${path} eq ${cut})`;
    case '<=':
    case '>':
      return comparison;
  }
}

type Form = Exclude<LikePattern['form'], 'pattern' | 'literal'>;

const FUNCTIONS: Readonly<Record<Form, string>> = { prefix: 'startswith', suffix: 'endswith', contains: 'contains' };

function like(field: PushedField, pattern: LikePattern, negated: boolean): string {
  if (pattern.form === 'literal') return compareLiteral(field, negated ? '!=' : '=', pattern.text);
  // `likeForms` keeps patterns such as 'a%b' away; if one came all the same, every row with a value is wide enough.
  if (pattern.form === 'pattern') return anyValue(field);
  const isAnything = pattern.text === '';
  if (field.filter?.[negated ? 'NOT LIKE' : 'LIKE'] !== 'exact') {
    return negated || isAnything ? anyValue(field) : matchWidely(field, pattern.form, quote(pattern.text));
  }
  if (isAnything) return negated ? noValue(field) : anyValue(field);
  return match(field, pattern.form, quote(pattern.text), negated);
}

function match(field: PushedField, form: Form, literal: string, negated = false): string {
  const matches = `${negated ? 'not ' : ''}${FUNCTIONS[form]}(${propertyPath(field)},${literal})`;
  return field.nullable === false ? matches : group('and', [anyValue(field), matches]);
}

function matchWidely(field: PushedField, form: Form, literal: string): string {
  const day = dayOf(literal);
  return day === undefined ? match(field, form, literal) : match(field, 'contains', day);
}
