import fc from 'fast-check';
import type { ComparisonOperator, FieldRef, Filter, Literal, Loc } from '../../src/where/ast.ts';

const NOWHERE: Loc = { offset: 0, length: 0 };

export const OPERATORS: readonly ComparisonOperator[] = ['=', '!=', '<', '<=', '>', '>='];

export const textLiteral = (text: string): Literal => ({ kind: 'string', text, loc: NOWHERE });
export const numberLiteral = (text: string): Literal => ({ kind: 'number', text, loc: NOWHERE });
export const booleanLiteral = (value: boolean): Literal => ({ kind: 'boolean', value, loc: NOWHERE });
export const dateLiteral = (text: string): Literal => ({ kind: 'date', text, loc: NOWHERE });
export const dateTimeLiteral = (text: string): Literal => ({ kind: 'datetime', text, loc: NOWHERE });

/** What a filter may say about one field. */
export interface FieldChoice {
  readonly name: string;
  readonly literals: fc.Arbitrary<Literal>;
  readonly patterns?: fc.Arbitrary<string>;
  readonly operators?: readonly ComparisonOperator[];
  /** An object or an array can be tested for null only. */
  readonly nullOnly?: boolean;
}

export function predicatesOn(choice: FieldChoice): fc.Arbitrary<Filter> {
  const field: FieldRef = { name: choice.name, loc: NOWHERE };
  const { literals, patterns, operators = OPERATORS } = choice;
  const isNull = fc.boolean().map((negated): Filter => ({ kind: 'isNull', field, negated, loc: NOWHERE }));
  if (choice.nullOnly) return isNull;
  const compare = fc
    .tuple(fc.constantFrom(...operators), literals)
    .map(([operator, value]): Filter => ({ kind: 'compare', field, operator, value, loc: NOWHERE }));
  const membership = fc
    .tuple(fc.boolean(), fc.array(literals, { minLength: 1, maxLength: 5 }))
    .map(([negated, values]): Filter => ({ kind: 'in', field, negated, values, loc: NOWHERE }));
  const between = fc
    .tuple(fc.boolean(), literals, literals)
    .map(([negated, low, high]): Filter => ({ kind: 'between', field, negated, low, high, loc: NOWHERE }));
  const like = patterns
    ? fc.tuple(fc.boolean(), patterns).map(([negated, pattern]): Filter => {
        return { kind: 'like', field, negated, pattern: textLiteral(pattern), loc: NOWHERE };
      })
    : undefined;
  return fc.oneof(
    { weight: 1, arbitrary: isNull },
    { weight: 4, arbitrary: compare },
    { weight: 2, arbitrary: membership },
    ...(operators === OPERATORS ? [{ weight: 1, arbitrary: between }] : []),
    ...(like ? [{ weight: 3, arbitrary: like }] : []),
  );
}

/** Filters nested up to `depth` groups and NOTs. */
export function treesOf(leaf: fc.Arbitrary<Filter>, depth = 3): fc.Arbitrary<Filter> {
  if (depth === 0) return leaf;
  const inner = treesOf(leaf, depth - 1);
  const operands = fc.array(inner, { minLength: 2, maxLength: 4 });
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: operands.map((each): Filter => ({ kind: 'and', operands: each, loc: NOWHERE })) },
    { weight: 2, arbitrary: operands.map((each): Filter => ({ kind: 'or', operands: each, loc: NOWHERE })) },
    { weight: 1, arbitrary: inner.map((operand): Filter => ({ kind: 'not', operand, loc: NOWHERE })) },
  );
}
