import type { Operator } from '../../where/ast.ts';
import { type Collation, compileCondition, type FieldType, type Predicate } from '../../where/index.ts';
import { readLikePattern } from '../../where/like.ts';
import type { Value } from '../../where/model.ts';
import { readLiteral, type ScalarType } from '../../where/values.ts';
import { Fault } from './fault.ts';
import type { TableRow } from './table.ts';

/** What a provider's filter says, once its own grammar has been read. */
export type FilterTree =
  /** Without operands: always true, never true. */
  | { readonly kind: 'and' | 'or'; readonly operands: readonly FilterTree[] }
  | { readonly kind: 'not'; readonly operand: FilterTree }
  | FilterTest;

export interface FilterTest {
  readonly kind: 'test';
  /** The provider's name. */
  readonly field: string;
  readonly operator: Operator;
  /** Of comparisons one, of lists any number, of the null tests none; texts of patterns with `%`, `_` and escapes by `\`. */
  readonly values: readonly FilterLiteral[];
}

/** What a test compares with: a text that is read under the field's type; null. */
export type FilterLiteral = string | number | boolean | null;

/** A field as the provider compares it. */
export interface FilterField {
  readonly type: Extract<FieldType, ScalarType>;
  /** Null for nothing. Default: the row's value of this name. */
  readonly read?: (row: TableRow) => unknown;
  /** What texts compare by: without cases, accents, blanks at the end. It is done to both sides. */
  readonly fold?: (text: string) => string;
  readonly collation?: Collation;
}

/** How a provider's filter differs from others. */
export interface FilterRules {
  readonly field: (name: string) => FilterField | undefined;
  /** What the provider does with a field that it does not know. Default `refused`. */
  readonly unknownFields?: 'refused' | 'ignored';
  /** What a test of a row without a value is. Default: unknown, which is no match, and whose NOT is none either. */
  readonly ofNull?: Readonly<Partial<Record<Operator, boolean>>>;
  /** The provider's error for a field or a literal it does not take. */
  readonly refuse?: (message: string, field: string) => Fault;
}

type Truth = boolean | undefined;
type Test = (row: TableRow) => Truth;

/**
 * Compiles a filter: `and`, `or` and `not` of three truths, tests by the evaluator that the platform itself uses on rows.
 * @throws Fault 400 for unknown fields and for literals that the field's type does not take
 */
export function compileFilter(filter: FilterTree, rules: FilterRules): (row: TableRow) => boolean {
  const test = compile(filter, rules);
  return (row) => test(row) === true;
}

function compile(filter: FilterTree, rules: FilterRules): Test {
  if (filter.kind === 'test') return compileTest(filter, rules);
  if (filter.kind === 'not') return negated(compile(filter.operand, rules));
  const operands = filter.operands.map((operand) => compile(operand, rules));
  return filter.kind === 'and' ? conjunction(operands) : negated(conjunction(operands.map(negated)));
}

function negated(test: Test): Test {
  return (row) => {
    const truth = test(row);
    return truth === undefined ? undefined : !truth;
  };
}

/** Ends at the first operand that is false, so that one may guard the next. */
function conjunction(operands: readonly Test[]): Test {
  return (row) => {
    let truth: Truth = true;
    for (const operand of operands) {
      const each = operand(row);
      if (each === false) return false;
      if (each === undefined) truth = undefined;
    }
    return truth;
  };
}

function compileTest({ field: name, operator, values }: FilterTest, rules: FilterRules): Test {
  const field = rules.field(name);
  const { unknownFields = 'refused', ofNull = {}, refuse = refusal } = rules;
  if (field === undefined) {
    if (unknownFields === 'ignored') return () => true;
    throw refuse(`There is no field '${name}'.`, name);
  }
  const { read = (row) => row[name], fold = (text) => text } = field;
  if (operator === 'IS NULL' || operator === 'IS NOT NULL') {
    return (row) => (read(row) == null) === (operator === 'IS NULL');
  }
  const predicate = predicateOf({ ...field, fold }, operator, values);
  if (predicate === undefined) throw refuse(`'${name}' is not compared with ${JSON.stringify(values)}.`, name);
  const test = compileCondition(predicate);
  return (row) => {
    const value = read(row);
    if (value == null) return ofNull[operator];
    return test({ value: typeof value === 'string' && field.type === 'string' ? fold(value) : value });
  };
}

function refusal(message: string): Fault {
  return new Fault(400, 'INVALID_FILTER', message);
}

const NOWHERE = { offset: 0, length: 0 };

type FoldedField = FilterField & { readonly fold: (text: string) => string };

/** Undefined when a value is none of the field's type. */
function predicateOf(
  { type, fold, collation = 'cs' }: FoldedField,
  operator: Exclude<Operator, 'IS NULL' | 'IS NOT NULL'>,
  written: readonly FilterLiteral[],
): Predicate | undefined {
  const place = { field: { name: 'value', native: 'value', type, collation }, loc: NOWHERE };
  const negated = operator.startsWith('NOT ');
  const values = written.map((literal) => readValue(literal, type, fold)).filter((value) => value !== undefined);
  const [value] = values;
  if (value === undefined || values.length < written.length) return undefined;
  if (operator === 'IN' || operator === 'NOT IN') return { ...place, kind: 'in', negated, values };
  if (operator !== 'LIKE' && operator !== 'NOT LIKE') return { ...place, kind: 'compare', operator, value };
  return { ...place, kind: 'like', negated, pattern: readLikePattern(fold(String(written[0]))) };
}

function readValue(literal: FilterLiteral, type: ScalarType, fold: (text: string) => string): Value | undefined {
  if (literal === null) return undefined;
  const value = readLiteral({ kind: 'string', text: String(literal), loc: NOWHERE }, type);
  return value?.kind === 'string' ? { kind: 'string', value: fold(value.value) } : value;
}

/** A text that a pattern shall find as it is. */
export function escapePattern(text: string): string {
  return text.replace(/[%_\\]/g, '\\$&');
}
