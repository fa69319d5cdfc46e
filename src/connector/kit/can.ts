import type { Operator } from '../../where/ast.ts';
import type { Exactness } from '../../where/model.ts';

export type OperatorSet = Readonly<Partial<Record<Operator, Exactness>>>;

/** Operators of a field by what they do, for `FieldSpec.filter`; sets are joined by spreading: `{ ...can.null, ...can.equal('exact') }`. */
export const can = {
  null: { 'IS NULL': 'exact', 'IS NOT NULL': 'exact' } satisfies OperatorSet,
  equal: (how: Exactness) => can.only(how, '=', '!=', 'IN', 'NOT IN'),
  order: (how: Exactness) => can.only(how, '<', '<=', '>', '>='),
  /** Both of these. */
  compare: (how: Exactness) => ({ ...can.equal(how), ...can.order(how) }),
  match: (how: Exactness) => can.only(how, 'LIKE', 'NOT LIKE'),
  only,
  /** A set without some of it. */
  but,
} as const;

function only<Only extends Operator>(how: Exactness, ...operators: readonly Only[]): Readonly<Record<Only, Exactness>> {
  const set = Object.fromEntries(operators.map((operator) => [operator, how]));
  // Every operator of the list is a name of the set.
  return set as Readonly<Record<Only, Exactness>>;
}

function but<Set extends OperatorSet, Less extends keyof Set>(set: Set, ...less: readonly Less[]): Omit<Set, Less> {
  const left: Partial<Set> = { ...set };
  for (const operator of less) delete left[operator];
  // What is deleted is what the type leaves out.
  return left as Omit<Set, Less>;
}
