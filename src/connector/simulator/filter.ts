import type { Operator } from '../../where/ast.ts';
import { type Collation, compileCondition, type FieldType, type Predicate } from '../../where/index.ts';
import { readLikePattern } from '../../where/like.ts';
import type { Value } from '../../where/model.ts';
import { readLiteral, type ScalarType } from '../../where/values.ts';
import { Fault } from './fault.ts';
import type { TableRow } from './table.ts';

/** A provider's filter after its own grammar was parsed. */
export type FilterTree =
  /** A group. Without operands, `and` is always true and `or` is always false. */
  | { readonly kind: 'and' | 'or'; readonly operands: readonly FilterTree[] }
  | { readonly kind: 'not'; readonly operand: FilterTree }
  /** A test of the provider's own. Undefined stands for unknown. */
  | { readonly kind: 'own'; readonly holds: (row: TableRow) => boolean | undefined }
  | FilterTest;

/** One test of a filter. */
export interface FilterTest {
  readonly kind: 'test';
  /** The provider's name of the field. */
  readonly field: string;
  /** The field itself, where the rules do not know it by its name. */
  readonly of?: FilterField;
  readonly operator: Operator;
  /** One value for comparisons, any number for lists, none for null tests. Patterns have `%`, `_` and escapes by `\`. */
  readonly values: readonly FilterLiteral[];
}

/** The value of a test: a text that is read as the field's type, or null. */
export type FilterLiteral = string | number | boolean | null;

/** A field as the provider compares it. */
export interface FilterField {
  readonly type: Extract<FieldType, ScalarType>;
  /** Reads the value of a row; null where there is none. Default: the row's member of this name. */
  readonly read?: (row: TableRow) => unknown;
  /** Normalises texts before they are compared, such as case, accents, or blanks at the end. It applies to both sides. */
  readonly fold?: (text: string) => string;
  readonly collation?: Collation;
}

/** The peculiarities of a provider's filter. */
export interface FilterRules {
  /** Finds a field. Default: none, because each test has its own. */
  readonly field?: (name: string) => FilterField | undefined;
  /** The treatment of an unknown field. Default `refused`. */
  readonly unknownFields?: 'refused' | 'ignored';
  /** The result of a test of a row without a value, by operator. Default: unknown, which does not match, and neither does its NOT. */
  readonly ofNull?: Readonly<Partial<Record<Operator, boolean>>>;
  /** Returns the provider's error for a field or a literal that it does not accept. */
  readonly refuse?: (message: string, field: string) => Fault;
}

type Truth = boolean | undefined;
type Test = (row: TableRow) => Truth;

/**
 * Compiles a filter to a test of rows. `and`, `or` and `not` are three-valued, and the platform's own evaluator runs the tests.
 * @throws Fault 400 for unknown fields and for literals that do not fit the field's type
 */
export function compileFilter(filter: FilterTree, rules: FilterRules): (row: TableRow) => boolean {
  const test = compile(filter, rules);
  return (row) => test(row) === true;
}

function compile(filter: FilterTree, rules: FilterRules): Test {
  if (filter.kind === 'test') return compileTest(filter, rules);
  if (filter.kind === 'own') return filter.holds;
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

/** Ends at the first operand that is false, so that one operand may guard the next. */
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

function compileTest({ field: name, of, operator, values }: FilterTest, rules: FilterRules): Test {
  const field = of ?? rules.field?.(name);
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

/** Returns undefined when a value does not fit the field's type. */
function predicateOf(
  { type, fold, collation = 'cs' }: FoldedField,
  operator: Exclude<Operator, 'IS NULL' | 'IS NOT NULL'>,
  written: readonly FilterLiteral[],
): Predicate | undefined {
  const common = { field: { name: 'value', native: 'value', type, collation }, loc: NOWHERE };
  const negated = operator.startsWith('NOT ');
  const values = written.map((literal) => readValue(literal, type, fold)).filter((value) => value !== undefined);
  const [value] = values;
  if (value === undefined || values.length < written.length) return undefined;
  if (operator === 'IN' || operator === 'NOT IN') return { ...common, kind: 'in', negated, values };
  if (operator !== 'LIKE' && operator !== 'NOT LIKE') return { ...common, kind: 'compare', operator, value };
  return { ...common, kind: 'like', negated, pattern: readLikePattern(fold(String(written[0]))) };
}

function readValue(literal: FilterLiteral, type: ScalarType, fold: (text: string) => string): Value | undefined {
  if (literal === null) return undefined;
  const value = readLiteral({ kind: 'string', text: String(literal), loc: NOWHERE }, type);
  return value?.kind === 'string' ? { kind: 'string', value: fold(value.value) } : value;
}

/** Escapes a text for a pattern that must find it literally. */
export function escapePattern(text: string): string {
  return text.replace(/[%_\\]/g, '\\$&');
}
