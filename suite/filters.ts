import fc from 'fast-check';
import type { FieldSpec } from '#connector';
import type { ComparisonOperator, FieldRef, Filter, Literal } from '../src/where/ast.ts';
import { literalsFor, NOWHERE, patternsFor } from './literals.ts';
import { readField } from './reference.ts';
import type { Listing, Row } from './target.ts';

const EQUALITIES: readonly ComparisonOperator[] = ['=', '!='];
const COMPARISONS: readonly ComparisonOperator[] = [...EQUALITIES, '<', '<=', '>', '>='];

/** The literals, patterns and operators with which filters test a field. */
interface FieldChoice {
  readonly name: string;
  /** Undefined: the field can be tested for null only. */
  readonly literals: fc.Arbitrary<Literal> | undefined;
  /** The lists of IN. Default: up to five literals. */
  readonly lists?: fc.Arbitrary<readonly Literal[]>;
  readonly patterns?: fc.Arbitrary<Literal>;
  /** Default: all comparisons, and BETWEEN. */
  readonly operators?: readonly ComparisonOperator[];
}

/** Returns random filters on the fields of a listing, nested up to three levels. */
export function filtersOn({ object, rows }: Pick<Listing, 'object' | 'rows'>): fc.Arbitrary<Filter> {
  const choices = Object.entries(object.fields).map(([name, spec]) => choiceOf(name, spec, rows));
  return treesOf(fc.oneof(...choices.map(predicatesOn)), { mostOperands: 3 });
}

function choiceOf(name: string, spec: FieldSpec, rows: readonly Row[]): FieldChoice {
  const literals = literalsFor(name, spec, rows);
  if (literals.length === 0) return { name, literals: undefined };
  const literal = literalOf(literals, new Set(rows.map((row) => String(readField(row, name)))));
  const few = fc.array(literal, { minLength: 1, maxLength: 6 });
  // More values than most providers accept in one list.
  const many = fc.array(literal, { minLength: 30, maxLength: 60 });
  return {
    name,
    literals: literal,
    lists: fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: many }),
    ...(spec.type === 'boolean' && { operators: EQUALITIES }),
    ...(spec.type === 'string' && { patterns: fc.constantFrom(...patternsFor(literals)) }),
  };
}

/** Returns literals, half of which occur as values, so that filters match some rows. */
function literalOf(literals: readonly Literal[], values: ReadonlySet<string>): fc.Arbitrary<Literal> {
  const present = literals.filter((literal) => literal.kind !== 'boolean' && values.has(literal.text));
  return fc.oneof(fc.constantFrom(...literals), fc.constantFrom(...(present.length === 0 ? literals : present)));
}

/** Returns random predicates on a field. */
export function predicatesOn({ name, literals, lists, patterns, operators }: FieldChoice): fc.Arbitrary<Filter> {
  const field: FieldRef = { name, loc: NOWHERE };
  const isNull = fc.boolean().map((negated): Filter => ({ kind: 'isNull', field, negated, loc: NOWHERE }));
  if (literals === undefined) return isNull;
  const comparison = fc
    .tuple(fc.constantFrom(...(operators ?? COMPARISONS)), literals)
    .map(([operator, value]): Filter => ({ kind: 'compare', field, operator, value, loc: NOWHERE }));
  const membership = fc
    .tuple(fc.boolean(), lists ?? fc.array(literals, { minLength: 1, maxLength: 5 }))
    .map(([negated, values]): Filter => ({ kind: 'in', field, negated, values, loc: NOWHERE }));
  const between = fc
    .tuple(fc.boolean(), literals, literals)
    .map(([negated, low, high]): Filter => ({ kind: 'between', field, negated, low, high, loc: NOWHERE }));
  const like =
    patterns &&
    fc
      .tuple(fc.boolean(), patterns)
      .map(([negated, pattern]): Filter => ({ kind: 'like', field, negated, pattern, loc: NOWHERE }));
  return fc.oneof(
    { weight: 1, arbitrary: isNull },
    { weight: 4, arbitrary: comparison },
    { weight: 2, arbitrary: membership },
    ...(operators === undefined ? [{ weight: 1, arbitrary: between }] : []),
    ...(like ? [{ weight: 3, arbitrary: like }] : []),
  );
}

/** Returns filters nested up to `depth` groups and NOTs. */
export function treesOf(leaf: fc.Arbitrary<Filter>, { depth = 3, mostOperands = 4 } = {}): fc.Arbitrary<Filter> {
  if (depth === 0) return leaf;
  const inner = treesOf(leaf, { depth: depth - 1, mostOperands });
  const operands = fc.array(inner, { minLength: 2, maxLength: mostOperands });
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: operands.map((each): Filter => ({ kind: 'and', operands: each, loc: NOWHERE })) },
    { weight: 2, arbitrary: operands.map((each): Filter => ({ kind: 'or', operands: each, loc: NOWHERE })) },
    { weight: 1, arbitrary: inner.map((operand): Filter => ({ kind: 'not', operand, loc: NOWHERE })) },
  );
}

/** Returns the predicates of an operator on a field, one for each literal. */
export function predicatesFor(operator: string, name: string, literals: readonly Literal[]): readonly Filter[] {
  const field: FieldRef = { name, loc: NOWHERE };
  const negated = operator.includes('NOT');
  if (operator.endsWith('NULL')) return [{ kind: 'isNull', field, negated, loc: NOWHERE }];
  if (operator.endsWith('LIKE')) {
    return patternsFor(literals).map((pattern) => ({ kind: 'like', field, negated, pattern, loc: NOWHERE }));
  }
  if (operator.endsWith('IN')) {
    return literals.map((literal, index) => {
      const values = [literal, ...literals.slice(index + 1, index + 1 + (index % 3))];
      return { kind: 'in', field, negated, values, loc: NOWHERE };
    });
  }
  const comparison = COMPARISONS.find((candidate) => candidate === operator);
  if (comparison === undefined) throw new Error(`'${operator}' is not an operator of the language.`);
  return literals.map((value) => ({ kind: 'compare', field, operator: comparison, value, loc: NOWHERE }));
}

/** Returns the text of a filter, with only the parentheses that precedence needs. */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
      return filter.operands
        .map((operand) => (operand.kind === 'or' ? `(${printFilter(operand)})` : printFilter(operand)))
        .join(' AND ');
    case 'or':
      return filter.operands.map(printFilter).join(' or ');
    case 'not':
      return isGroup(filter.operand) ? `NOT (${printFilter(filter.operand)})` : `not ${printFilter(filter.operand)}`;
    case 'compare':
      return `${printName(filter.field)}${filter.operator}${printLiteral(filter.value)}`;
    case 'in':
      return `${printName(filter.field)} ${printNot(filter)}IN (${filter.values.map(printLiteral).join(', ')})`;
    case 'like':
      return `${printName(filter.field)} ${printNot(filter)}LIKE ${printLiteral(filter.pattern)}`;
    case 'isNull':
      return `${printName(filter.field)} IS ${printNot(filter)}NULL`;
    case 'between':
      return `${printName(filter.field)} ${printNot(filter)}BETWEEN ${printLiteral(filter.low)} AND ${printLiteral(filter.high)}`;
  }
}

function isGroup({ kind }: Filter): boolean {
  return kind === 'and' || kind === 'or';
}

function printNot({ negated }: { readonly negated: boolean }): string {
  return negated ? 'NOT ' : '';
}

function printName({ name }: FieldRef): string {
  return /^[A-Za-z_][\w.]*$/.test(name) ? name : `\`${name}\``;
}

function printLiteral(literal: Literal): string {
  if (literal.kind === 'boolean') return literal.value ? 'TRUE' : 'false';
  return literal.kind === 'string' ? `'${literal.text.replaceAll("'", "''")}'` : literal.text;
}
