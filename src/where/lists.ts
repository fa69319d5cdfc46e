import { compareDecimals } from '../numbers/decimal.ts';
import { askNotNull } from './ask.ts';
import { type Condition, isGroup, join, type Predicate } from './condition.ts';
import type { Queryable, Value } from './model.ts';
import { joinPushes, type Push, push } from './push.ts';
import { isMapped } from './rewriting.ts';

/**
 * Returns a wider condition for one whose lists the provider does not accept. It replaces each list by its smallest and its greatest value,
 * or by a test for any value. Returns undefined where there is no list, or no replacement.
 */
export function widenLists(condition: Condition, queryable: Queryable): Condition | undefined {
  if (!isGroup<Condition>(condition)) return isList(condition) ? boundsOf(condition, queryable) : undefined;
  const wider = condition.operands.map((operand) => widenLists(operand, queryable));
  if (wider.every((operand) => operand === undefined)) return undefined;
  // What is wider is in the provider's fields already, whose names may be those of mapped fields.
  const pushes = condition.operands.map((operand, index): Push => {
    const known = wider[index];
    return known === undefined ? push(operand, queryable) : { kind: 'asked', condition: known, exactness: 'superset' };
  });
  return conditionOf(joinPushes(condition.kind, pushes));
}

/** A predicate that tests for one of several values. */
export type List = Extract<Predicate, { kind: 'in' }>;

/** Returns whether a condition tests for one of several values. NOT IN is a conjunction, so it does not count. */
export function isList(condition: Condition): condition is List {
  return condition.kind === 'in' && !condition.negated;
}

function boundsOf({ field, loc, values }: List, queryable: Queryable): Condition | undefined {
  const ordered = [...values].sort(compareLiterals);
  const [least] = ordered;
  const greatest = ordered.at(-1);
  if (least === undefined || greatest === undefined) return undefined;
  const ends = [
    { kind: 'compare', field, operator: '>=', value: least, loc },
    { kind: 'compare', field, operator: '<=', value: greatest, loc },
  ] as const;
  const bounds = hasOrder(least) ? ends.flatMap((end) => conditionOf(push(end, queryable)) ?? []) : [];
  const valued: Predicate = { kind: 'isNull', field, negated: true, loc };
  const anyValue = isMapped(queryable)
    ? conditionOf(push(valued, queryable))
    : askNotNull(field, loc, queryable)?.condition;
  return join('and', bounds) ?? anyValue;
}

function conditionOf(push: Push): Condition | undefined {
  return push.kind === 'asked' ? push.condition : undefined;
}

/** Texts have no bounds, because the provider sorts them by its own rules. */
function hasOrder({ kind }: Value): boolean {
  return kind === 'number' || kind === 'date' || kind === 'datetime';
}

function compareLiterals(a: Value, b: Value): number {
  if (a.kind === 'number' && b.kind === 'number') return compareDecimals(a.text, b.text);
  if (a.kind === 'datetime' && b.kind === 'datetime') return a.epochMs - b.epochMs || a.nanos - b.nanos;
  if (a.kind === 'date' && b.kind === 'date') return a.text < b.text ? -1 : Number(a.text > b.text);
  return 0;
}
