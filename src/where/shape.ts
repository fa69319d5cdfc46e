import { type Condition, conjuncts, isGroup, join, predicatesOf } from './condition.ts';
import type { BooleanShape, QueryLimits } from './model.ts';

/** A condition in the provider's boolean shape, or why it does not fit. */
export type Shaped = { readonly condition: Condition } | { readonly reason: string };

type Shaper<Kind extends BooleanShape['kind']> = (
  condition: Condition,
  shape: Extract<BooleanShape, { kind: Kind }>,
) => Shaped;

const SHAPERS: { readonly [Kind in BooleanShape['kind']]: Shaper<Kind> } = {
  none: () => ({ reason: 'the provider takes no filter' }),
  any: (condition) => ({ condition }),
  and: (condition) =>
    conjuncts(condition).some((part) => isGroup<Condition>(part))
      ? { reason: 'the provider joins predicates by AND only' }
      : { condition },
  'and-xor-or': (condition) =>
    isFlat(condition) ? { condition } : { reason: 'the provider takes either ANDs or ORs, never both' },
  dnf: (condition, shape) => normalForm('or', condition, shape),
  cnf: (condition, shape) => normalForm('and', condition, shape),
};

/** Brings a condition into the shape without changing what it means. */
export function fitShape(condition: Condition, shape: BooleanShape, limits: QueryLimits = {}): Shaped {
  // Each shaper takes the shape its key names; the compiler cannot follow a look-up by `shape.kind`.
  const shaped = (SHAPERS[shape.kind] as Shaper<BooleanShape['kind']>)(condition, shape);
  if ('reason' in shaped || limits.maxTerms === undefined) return shaped;
  const terms = predicatesOf(shaped.condition).length;
  return terms <= limits.maxTerms ? shaped : { reason: `the provider takes at most ${limits.maxTerms} predicates` };
}

function isFlat(condition: Condition): boolean {
  return !isGroup<Condition>(condition) || condition.operands.every((operand) => !isGroup<Condition>(operand));
}

/** Multiplying out can explode; past this many groups it is not tried further. */
const MAX_GROUPS = 256;

interface GroupLimits {
  readonly groups?: number;
  readonly perGroup?: number;
  readonly total?: number;
}

function normalForm(outer: 'and' | 'or', condition: Condition, limits: GroupLimits): Shaped {
  const inner = outer === 'or' ? 'and' : 'or';
  const groups = multiplyOut(condition, outer);
  const most = Math.min(limits.groups ?? MAX_GROUPS, MAX_GROUPS);
  if (groups === undefined || groups.length > most) return { reason: `the provider takes at most ${most} groups` };
  const largest = Math.max(...groups.map((group) => group.length));
  if (largest > (limits.perGroup ?? largest)) {
    return { reason: `the provider takes at most ${limits.perGroup} predicates in a group` };
  }
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  if (total > (limits.total ?? total)) return { reason: `the provider takes at most ${limits.total} predicates` };
  const shaped = join(
    outer,
    groups.flatMap((group) => join(inner, group) ?? []),
  );
  return { condition: shaped ?? condition };
}

/** The groups of the normal form whose outer connective is given; undefined when there would be too many. */
function multiplyOut(condition: Condition, outer: 'and' | 'or'): readonly (readonly Condition[])[] | undefined {
  if (!isGroup<Condition>(condition)) return [[condition]];
  const parts = condition.operands.map((operand) => multiplyOut(operand, outer));
  let groups: readonly (readonly Condition[])[] = condition.kind === outer ? [] : [[]];
  for (const part of parts) {
    if (part === undefined) return undefined;
    groups =
      condition.kind === outer
        ? [...groups, ...part]
        : groups.flatMap((left) => part.map((right) => [...left, ...right]));
    if (groups.length > MAX_GROUPS) return undefined;
  }
  return groups;
}
