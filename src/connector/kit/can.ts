import type { Operator } from '../../where/ast.ts';
import type { Exactness } from '../../where/model.ts';

/** The operators that a field can be filtered by, each with its exactness. */
export type OperatorSet = Readonly<Partial<Record<Operator, Exactness>>>;

/** Sets of operators for `FieldSpec.filter`. Join sets by spreading: `{ ...can.null, ...can.equal('exact') }`. */
export const can = {
  /** IS NULL and IS NOT NULL, both exact. */
  null: { 'IS NULL': 'exact', 'IS NOT NULL': 'exact' } satisfies OperatorSet,
  /** `=`, `!=`, IN and NOT IN. */
  equal: (how: Exactness) => can.only(how, '=', '!=', 'IN', 'NOT IN'),
  /** `<`, `<=`, `>` and `>=`. */
  order: (how: Exactness) => can.only(how, '<', '<=', '>', '>='),
  /** The operators of `equal` and `order` together. */
  compare: (how: Exactness) => ({ ...can.equal(how), ...can.order(how) }),
  /** LIKE and NOT LIKE. */
  match: (how: Exactness) => can.only(how, 'LIKE', 'NOT LIKE'),
  /** Only the named operators: `can.only('exact', '=', 'IN')`. */
  only,
  /** A set without the named operators: `can.but(set, 'IN')`. */
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
