import type { Choice } from './choice.ts';
import { type Condition, isGroup, type Predicate, predicatesOf } from './condition.ts';
import type { Queryable } from './model.ts';
import { print } from './print.ts';
import { push } from './push.ts';
import { isMapped } from './rewriting.ts';

/** The result of a condition that no row passes, or that every row passes. */
export type Constant = 'never' | 'always';

/** The plan's decision about one predicate of a filter, for people. */
export interface Decision {
  readonly predicate: string;
  readonly position: number;
  readonly length: number;
  /** The predicate in the fields of the provider's object, where the object is mapped and the provider can know of it. */
  readonly rewritten?: string;
  /** The exactness with which the provider evaluates it. `none`: it cannot. */
  readonly exactness: 'exact' | 'superset' | 'none';
  readonly pushed: boolean;
  /** The result of the predicate alone, where the possible values of its field decide it. The provider is then not queried. */
  readonly holds?: Constant;
  readonly reason?: string;
}

const RECHECKED = 'the provider may return more rows than match, so Causeway checks them again';

/** The plan's decision about one conjunct of a filter. */
export interface Fate {
  readonly pushed: 'as it is' | 'widened' | 'not' | 'settled';
  /** Why the conjunct is not pushed as it is. */
  readonly reason: string | undefined;
}

/** Returns what the plan does with the conjunct at an index. */
export function fateAt({ sources, parts, reasons }: Choice, index: number): Fate {
  const source = sources[index];
  const part = parts.find((each) => each.source === source);
  if (part !== undefined && part.condition === undefined) {
    return { pushed: 'settled', reason: 'it is part of an OR that every row matches' };
  }
  if (part !== undefined && part.isWidened !== true) return { pushed: 'as it is', reason: undefined };
  return { pushed: part === undefined ? 'not' : 'widened', reason: source && reasonFor(source, reasons) };
}

/** Returns one decision per predicate of a conjunct. Predicates inside an OR are decided together with the whole OR. */
export function decide(source: Condition, fate: Fate, queryable: Queryable): readonly Decision[] {
  return predicatesOf(source).map((predicate) => {
    const { offset: position, length } = predicate.loc;
    return {
      predicate: print(predicate),
      position,
      length,
      ...rewrittenForm(predicate, queryable),
      ...judge(predicate, fate, queryable),
    };
  });
}

function rewrittenForm(predicate: Predicate, queryable: Queryable): Pick<Decision, 'rewritten'> {
  const rewritten = rewrittenBy(predicate, queryable);
  return rewritten === undefined ? {} : { rewritten: print(rewritten.condition) };
}

function rewrittenBy(predicate: Predicate, queryable: Queryable) {
  const rewritten = isMapped(queryable) ? queryable.rewriting.rewrite(predicate) : undefined;
  return rewritten?.kind === 'rewritten' ? rewritten : undefined;
}

function judge(
  predicate: Predicate,
  fate: Fate,
  queryable: Queryable,
): Pick<Decision, 'exactness' | 'pushed' | 'holds' | 'reason'> {
  const alone = push(predicate, queryable);
  if (alone.kind === 'never' || alone.kind === 'always') {
    return { exactness: 'exact', pushed: false, holds: alone.kind, reason: CONSTANT_REASONS[alone.kind] };
  }
  if (alone.kind === 'unasked') return { exactness: 'none', pushed: false, reason: alone.reason };
  if (fate.pushed === 'widened') {
    return {
      exactness: 'superset',
      pushed: true,
      reason: `${fate.reason}, so Causeway sends a wider condition and checks the rows again`,
    };
  }
  const pushed = fate.pushed === 'as it is';
  const why = rewrittenBy(predicate, queryable)?.reason;
  const reason = pushed ? (why ?? RECHECK_REASONS[alone.exactness]) : fate.reason;
  return { exactness: alone.exactness, pushed, ...(reason !== undefined && { reason }) };
}

function reasonFor(source: Condition, reasons: ReadonlyMap<Condition, string>): string | undefined {
  const reason = reasons.get(source);
  return isGroup<Condition>(source) && reason !== undefined
    ? `it is part of an OR that cannot be pushed: ${reason}`
    : reason;
}

const CONSTANT_REASONS: Readonly<Record<Constant, string>> = {
  never: 'no value of the field can match it',
  always: 'every value of the field matches it',
};

const RECHECK_REASONS = { exact: undefined, superset: RECHECKED } as const;
