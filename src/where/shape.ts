import { type Condition, conjuncts, isGroup, join, predicatesOf } from './condition.ts';
import type { BooleanShape, QueryLimits } from './model.ts';

/** A condition in the provider's combination of AND and OR, or the reason why it does not fit. */
export type Shaped = { readonly condition: Condition } | { readonly reason: string };

type Shaper<Kind extends BooleanShape['kind']> = (
  condition: Condition,
  shape: Extract<BooleanShape, { kind: Kind }>,
) => Shaped;

const SHAPERS: { readonly [Kind in BooleanShape['kind']]: Shaper<Kind> } = {
  none: () => ({ reason: 'the provider accepts no filter' }),
  any: (condition) => ({ condition }),
  and: (condition) =>
    conjuncts(condition).some((part) => isGroup<Condition>(part))
      ? { reason: 'the provider joins predicates by AND only' }
      : { condition },
  'and-xor-or': (condition) =>
    isFlat(condition) ? { condition } : { reason: 'the provider accepts either ANDs or ORs, never both' },
  dnf: (condition, shape) => normalForm('or', condition, shape),
  cnf: (condition, shape) => normalForm('and', condition, shape),
};

/** Transforms a condition to the provider's combination of AND and OR without changing its meaning. */
export function fitShape(condition: Condition, shape: BooleanShape, limits: QueryLimits = {}): Shaped {
  // Each shaper takes the shape its key names; the compiler cannot follow a look-up by `shape.kind`.
  const shaped = (SHAPERS[shape.kind] as Shaper<BooleanShape['kind']>)(condition, shape);
  if ('reason' in shaped || limits.maxTerms === undefined) return shaped;
  const terms = predicatesOf(shaped.condition).length;
  return terms <= limits.maxTerms ? shaped : { reason: `the provider accepts at most ${limits.maxTerms} predicates` };
}

function isFlat(condition: Condition): boolean {
  return !isGroup<Condition>(condition) || condition.operands.every((operand) => !isGroup<Condition>(operand));
}

/** Distributing AND over OR can explode. Beyond this many groups or predicates it stops. */
const MAX_GROUPS = 1000;
const MAX_PREDICATES = 4096;

function normalForm(
  outer: 'and' | 'or',
  condition: Condition,
  limits: Extract<BooleanShape, { kind: 'dnf' | 'cnf' }>,
): Shaped {
  const inner = outer === 'or' ? 'and' : 'or';
  const groups = multiplyOut(condition, outer);
  const most = Math.min(limits.groups ?? MAX_GROUPS, MAX_GROUPS);
  if (groups === undefined || groups.length > most) return { reason: `the provider accepts at most ${most} groups` };
  const largest = Math.max(...groups.map((group) => group.length));
  if (largest > (limits.perGroup ?? largest)) {
    return { reason: `the provider accepts at most ${limits.perGroup} predicates in a group` };
  }
  const total = sizeOf(groups);
  const mostPredicates = Math.min(limits.total ?? MAX_PREDICATES, MAX_PREDICATES);
  if (total > mostPredicates) return { reason: `the provider accepts at most ${mostPredicates} predicates` };
  const shaped = join(
    outer,
    groups.flatMap((group) => join(inner, group) ?? []),
  );
  return { condition: shaped ?? condition };
}

type Groups = readonly (readonly Condition[])[];

/** Returns the groups of the normal form with this outer connective. Undefined when there are too many. */
function multiplyOut(condition: Condition, outer: 'and' | 'or'): Groups | undefined {
  if (!isGroup<Condition>(condition)) return [[condition]];
  return condition.kind === outer ? listGroups(condition.operands, outer) : crossGroups(condition.operands, outer);
}

function listGroups(operands: readonly Condition[], outer: 'and' | 'or'): Groups | undefined {
  const groups: (readonly Condition[])[] = [];
  for (const operand of operands) {
    const more = multiplyOut(operand, outer);
    if (more === undefined || groups.length + more.length > MAX_GROUPS) return undefined;
    groups.push(...more);
  }
  return groups;
}

function crossGroups(operands: readonly Condition[], outer: 'and' | 'or'): Groups | undefined {
  // Plain predicates belong to every group. They are added at once, so that a long list of them costs one step.
  let groups: Groups = [operands.filter((operand) => !isGroup<Condition>(operand))];
  for (const operand of operands) {
    if (!isGroup<Condition>(operand)) continue;
    const factor = multiplyOut(operand, outer);
    if (factor === undefined || groups.length * factor.length > MAX_GROUPS) return undefined;
    groups = groups.flatMap((left) => factor.map((right) => [...left, ...right]));
    if (sizeOf(groups) > MAX_PREDICATES) return undefined;
  }
  return groups;
}

function sizeOf(groups: Groups): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}
