import { type Asked, askAsIs, askNotNull, atMost, bestOf, surePieces } from './ask.ts';
import type { Operator } from './ast.ts';
import { type Condition, isGroup, join, operatorOf, type Predicate } from './condition.ts';
import { fitPredicate } from './domain.ts';
import type { Queryable, Value } from './model.ts';
import { REWRITES } from './rewrites.ts';
import { isMapped, type Rewritten } from './rewriting.ts';
import { askRounded, type Rounded } from './rounded.ts';

/**
 * The query to the provider for one part of a filter. It never matches fewer rows than the part; `superset` if it may match
 * more.
 */
export type Push = Asked | Fixed | Unasked;

/** A part that matches no row, or every row, so the provider need not be queried. */
type Fixed = { readonly kind: 'never' } | { readonly kind: 'always' };

interface Unasked {
  readonly kind: 'unasked';
  readonly reason: string;
}

const ALWAYS: Fixed = { kind: 'always' };
const NEVER: Fixed = { kind: 'never' };

/** Returns the largest part of a condition that the declared operators cover. `shape.ts` checks its combination of AND and OR. */
export function push(condition: Condition, queryable: Queryable): Push {
  if (!isGroup<Condition>(condition)) return pushPredicate(condition, queryable);
  return joinPushes(
    condition.kind,
    condition.operands.map((operand) => push(operand, queryable)),
  );
}

/** The result that decides a group whatever its other operands are, and the result of a group whose operands are all the opposite. */
const DECIDING = { and: NEVER, or: ALWAYS } as const;
const OTHERWISE = { and: ALWAYS, or: NEVER } as const;

/** Joins what is pushed of the operands of a group. */
export function joinPushes(kind: 'and' | 'or', pushes: readonly Push[]): Push {
  if (pushes.some((part) => part.kind === DECIDING[kind].kind)) return DECIDING[kind];
  const missing = pushes.find((part) => part.kind === 'unasked');
  // An AND may lose members and only grow; an OR that lost a branch would lose rows.
  if (missing !== undefined && kind === 'or') return missing;
  const asked = pushes.filter((part) => part.kind === 'asked');
  const joined = join(
    kind,
    asked.map(({ condition }) => condition),
  );
  if (joined === undefined) return missing ?? OTHERWISE[kind];
  const isExact = missing === undefined && asked.every(({ exactness }) => exactness === 'exact');
  return { kind: 'asked', condition: joined, exactness: isExact ? 'exact' : 'superset' };
}

function pushPredicate(predicate: Predicate, queryable: Queryable): Push {
  if (isMapped(queryable)) {
    const { vendor, rewrite } = queryable.rewriting;
    return pushRewritten(rewrite(predicate), predicate, vendor);
  }
  const fitted = fitPredicate(predicate);
  switch (fitted.kind) {
    case 'never':
      return NEVER;
    case 'unasked':
      return fitted;
    case 'valued':
      return pushValued(predicate, queryable);
    case 'ways':
      return bestOf(fitted.ways.map((way) => ask(way, queryable))) ?? cannot(predicate);
  }
}

/** Pushes a predicate on a mapped field as a condition on the provider's fields. Reasons name the mapped field. */
function pushRewritten(rewritten: Rewritten, predicate: Predicate, vendor: Queryable): Push {
  if (rewritten.kind === 'local') return { kind: 'unasked', reason: rewritten.reason };
  if (rewritten.kind !== 'rewritten') return { kind: rewritten.kind };
  const pushed = push(rewritten.condition, vendor);
  if (pushed.kind === 'unasked' || (pushed.kind === 'always' && rewritten.isWider)) return cannot(predicate);
  return pushed.kind === 'asked' && rewritten.isWider ? { ...pushed, exactness: 'superset' } : pushed;
}

/** Requests every row that has a value. The result is as exact as the provider is for the predicate. */
function pushValued(predicate: Predicate, queryable: Queryable): Push {
  const { field, loc } = predicate;
  const claimed = field.filter?.[operatorOf(predicate)] ?? 'exact';
  if (field.nullable === false && claimed === 'exact') return ALWAYS;
  const reason = `the provider has no filter for any value of '${field.name}'`;
  return atMost(claimed, askNotNull(field, loc, queryable)) ?? { kind: 'unasked', reason };
}

function cannot(predicate: Predicate): Unasked {
  const { name, likeExcept } = predicate.field;
  if (predicate.kind === 'like' && surePieces(predicate.field, predicate.pattern.text).length > 1) {
    return { kind: 'unasked', reason: `the provider does not match ${likeExcept} reliably in patterns for '${name}'` };
  }
  return { kind: 'unasked', reason: `the provider has no ${operatorOf(predicate)} for '${name}'` };
}

/** Queries with a predicate whose literals the field can hold. */
function ask(predicate: Predicate, queryable: Queryable): Asked | undefined {
  if (isRounded(predicate)) return askRounded(predicate, queryable);
  if (isAnything(predicate)) return askAnything(predicate, queryable);
  if (!isNegation(predicate)) return askPlainly(predicate, queryable);
  const certain = withoutUncertain(predicate);
  if (certain === predicate) return askValued(predicate, queryable);
  const { field, loc } = predicate;
  if (field.filter?.[operatorOf(predicate)] === undefined) return undefined;
  return atMost('superset', certain === undefined ? askNotNull(field, loc, queryable) : askValued(certain, queryable));
}

/** Returns whether a predicate compares numbers that the provider rounds. It then treats neighbouring numbers as equal. */
function isRounded(predicate: Predicate): predicate is Rounded {
  const isComparison = predicate.kind === 'compare' || predicate.kind === 'in';
  return isComparison && predicate.field.domain?.rounded !== undefined;
}

function askPlainly(predicate: Predicate, queryable: Queryable): Asked | undefined {
  const size = Math.max(1, queryable.limits?.maxInSize ?? Number.POSITIVE_INFINITY);
  if (predicate.kind === 'in' && predicate.values.length > size) return askChunks(predicate, size, queryable);
  const asIs = askAsIs(predicate, queryable);
  return asIs ?? REWRITES.map((rewrite) => rewrite(predicate, queryable)).find((asked) => asked !== undefined);
}

/** Splits longer lists: an OR of INs, or an AND of NOT INs. */
function askChunks(list: Extract<Predicate, { kind: 'in' }>, size: number, queryable: Queryable): Asked | undefined {
  const chunks = Array.from({ length: Math.ceil(list.values.length / size) }, (_, index): Predicate => {
    return { ...list, values: list.values.slice(index * size, (index + 1) * size) };
  });
  const pushed = joinPushes(
    list.negated ? 'and' : 'or',
    chunks.map((chunk) => askPlainly(chunk, queryable) ?? cannot(chunk)),
  );
  return pushed.kind === 'asked' ? pushed : undefined;
}

function isAnything(predicate: Predicate): predicate is Extract<Predicate, { kind: 'like' }> {
  if (predicate.kind !== 'like') return false;
  const { parts } = predicate.pattern;
  return parts.length === 1 && parts[0]?.kind === 'any';
}

/** `LIKE '%'` matches every text. Other values that the field may hold are checked again where LIKE itself would be. */
function askAnything(predicate: Extract<Predicate, { kind: 'like' }>, queryable: Queryable): Asked | undefined {
  const { field, loc } = predicate;
  const notNull = atMost(field.filter?.LIKE ?? 'superset', askNotNull(field, loc, queryable));
  return notNull ?? askPlainly(predicate, queryable);
}

const NEGATIONS: ReadonlySet<Operator> = new Set(['!=', 'NOT IN', 'NOT LIKE']);

function isNegation(predicate: Predicate): boolean {
  return NEGATIONS.has(operatorOf(predicate));
}

/** Adds "has a value" to a negation where the provider might match missing values. */
function askValued(predicate: Predicate, queryable: Queryable): Asked | undefined {
  const asked = askPlainly(predicate, queryable);
  const { field, loc } = predicate;
  const nulls = field.nulls ?? queryable.translator?.nulls ?? 'different';
  if (asked === undefined || field.nullable === false || nulls === 'unknown') return asked;
  const valued = askNotNull(field, loc, queryable);
  if (valued === undefined) return atMost('superset', asked);
  // In front, because some providers fail at a function of nothing.
  const condition = join('and', [valued.condition, asked.condition]) ?? asked.condition;
  return atMost(valued.exactness, { ...asked, condition });
}

/**
 * Returns a negation without the texts that the provider might confuse with others, because it would leave out matching rows. Undefined
 * when nothing is left.
 */
function withoutUncertain(predicate: Predicate): Predicate | undefined {
  const { field, loc } = predicate;
  const certain = field.domain?.text?.certain ?? (() => true);
  const isSure = (value: Value) => value.kind !== 'string' || certain(value.value);
  switch (predicate.kind) {
    case 'isNull':
      return predicate;
    case 'like': {
      const { form, text } = predicate.pattern;
      const isWhole = form === 'literal' || surePieces(field, text).length === 1;
      return certain(text) && isWhole ? predicate : undefined;
    }
    case 'compare':
      return isSure(predicate.value) ? predicate : undefined;
    case 'in': {
      const values = predicate.values.filter(isSure);
      const [only] = values;
      if (values.length === predicate.values.length) return predicate;
      if (values.length !== 1 || only === undefined) return only && { ...predicate, values };
      return { kind: 'compare', field, operator: '!=', value: only, loc };
    }
  }
}
