import { AppError, nearestName } from '../errors.ts';
import { type Condition, conjuncts, isGroup, join, predicatesOf } from './condition.ts';
import type { BooleanShape, PushedField, Queryable, Value } from './model.ts';
import { print } from './print.ts';
import { push } from './push.ts';
import { fitShape } from './shape.ts';
import { translate } from './translate.ts';

/** What happens to one top-level part of a filter, for people. */
export interface Decision {
  readonly predicate: string;
  readonly position: number;
  readonly length: number;
  readonly exactness: 'exact' | 'superset' | 'none';
  readonly reason?: string;
}

export interface OrderBy {
  readonly field: PushedField;
  readonly direction: 'asc' | 'desc';
}

/** How a query is answered: what the provider is asked, and what is checked again here. */
export interface Plan {
  readonly pushed?: Condition;
  /** The pushed part in the provider's syntax. */
  readonly native?: unknown;
  readonly residual?: Condition;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly orderBy: readonly OrderBy[];
  readonly sortPushed: boolean;
  readonly decisions: readonly Decision[];
  readonly pushdown: 'full' | 'partial' | 'none';
}

export interface PlanInput {
  readonly condition: Condition | undefined;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly orderBy: readonly OrderBy[];
}

interface Part {
  readonly source: Condition;
  readonly condition: Condition;
  readonly exact: boolean;
}

/**
 * Chooses the largest part of a filter that the provider can answer; the rest is the residual.
 * @throws AppError WHERE_UNSUPPORTED when the provider demands a filter on a field and none can be pushed.
 */
export function planQuery(queryable: Queryable, input: PlanInput): Plan {
  const reasons = new Map<Condition, string>();
  const parts = choose(conjuncts(input.condition), queryable, reasons);
  const { pushed, native } = within(parts, queryable, reasons);
  const exact = new Set(parts.filter((part) => part.exact).map((part) => part.source));
  const all = conjuncts(input.condition);
  const residual = join(
    'and',
    all.filter((part) => !exact.has(part)),
  );
  const asked = pushed !== undefined || Object.keys(input.parameters).length > 0;
  assertRequired(queryable, pushed, input.parameters);
  return {
    ...(pushed !== undefined && { pushed, native }),
    ...(residual !== undefined && { residual }),
    parameters: input.parameters,
    orderBy: input.orderBy,
    sortPushed: canSort(queryable, input.orderBy),
    decisions: all.map((part) => decide(part, parts, reasons)),
    pushdown: residual === undefined ? 'full' : asked ? 'partial' : 'none',
  };
}

function shapeOf(queryable: Queryable): BooleanShape {
  return queryable.shape ?? { kind: queryable.translator === undefined ? 'none' : 'and' };
}

/** All pushable parts if the provider's shape takes them together; otherwise as many as fit, plain predicates first. */
function choose(all: readonly Condition[], queryable: Queryable, reasons: Map<Condition, string>): Part[] {
  const pushable = all.flatMap((source): Part[] => {
    const part = push(source, queryable);
    if (part.condition !== undefined) return [{ source, condition: part.condition, exact: part.exactness === 'exact' }];
    reasons.set(source, part.reason);
    return [];
  });
  return 'condition' in fitAll(pushable, queryable) ? pushable : chooseSome(pushable, queryable, reasons);
}

function chooseSome(pushable: readonly Part[], queryable: Queryable, reasons: Map<Condition, string>): Part[] {
  const chosen: Part[] = [];
  for (const part of [...pushable].sort((a, b) => Number(isGroup(a.condition)) - Number(isGroup(b.condition)))) {
    const shaped = fitAll([...chosen, part], queryable);
    if ('reason' in shaped) reasons.set(part.source, shaped.reason);
    else chosen.push(part);
  }
  return chosen;
}

function fitAll(parts: readonly Part[], queryable: Queryable) {
  const joined = join(
    'and',
    parts.flatMap((part) => conjuncts(part.condition)),
  );
  if (joined === undefined) return { reason: 'nothing of it can be pushed' };
  return fitShape(joined, shapeOf(queryable), queryable.limits);
}

/** Translates, and gives up parts from the end while the text is longer than the provider takes. Changes `parts`. */
function within(parts: Part[], queryable: Queryable, reasons: Map<Condition, string>) {
  const maxLength = queryable.limits?.maxLength ?? Number.POSITIVE_INFINITY;
  for (;;) {
    const shaped = fitAll(parts, queryable);
    if ('reason' in shaped || queryable.translator === undefined) return {};
    const native = translate(shaped.condition, queryable.translator);
    const length = typeof native === 'string' ? native.length : JSON.stringify(native).length;
    if (length <= maxLength) return { pushed: shaped.condition, native };
    const dropped = parts.pop();
    if (dropped !== undefined)
      reasons.set(dropped.source, `the provider takes filters of at most ${maxLength} characters`);
  }
}

function decide(source: Condition, parts: readonly Part[], reasons: ReadonlyMap<Condition, string>): Decision {
  const part = parts.find((candidate) => candidate.source === source);
  const reason = reasons.get(source);
  const locs = predicatesOf(source).map((predicate) => predicate.loc);
  const offset = Math.min(...locs.map((loc) => loc.offset));
  const end = Math.max(...locs.map((loc) => loc.offset + loc.length));
  return {
    predicate: print(source),
    position: offset,
    length: end - offset,
    exactness: part === undefined ? 'none' : part.exact ? 'exact' : 'superset',
    ...(reason !== undefined && { reason }),
    ...(part !== undefined &&
      !part.exact && { reason: 'the provider may return more rows than meant, so they are checked again' }),
  };
}

function canSort(queryable: Queryable, orderBy: readonly OrderBy[]): boolean {
  const most = queryable.limits?.maxSortFields ?? Number.POSITIVE_INFINITY;
  return orderBy.length <= most && orderBy.every(({ field }) => field.sortable === true);
}

function assertRequired(
  queryable: Queryable,
  pushed: Condition | undefined,
  parameters: Readonly<Record<string, Value>>,
): void {
  const given = new Set([...predicatesOf(pushed).map((predicate) => predicate.field.name), ...Object.keys(parameters)]);
  const missing = (queryable.requiredFilters ?? []).filter((name) => !given.has(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `'${name}'`).join(' and ');
  throw new AppError(
    'WHERE_UNSUPPORTED',
    `The provider lists this object only with a filter on ${names}, joined by AND.`,
    {
      details: missing.map((name) => {
        const nearest = nearestName(name, given);
        return { message: `Add a condition on '${name}'.`, ...(nearest !== undefined && { nearest }) };
      }),
    },
  );
}

/** @throws AppError WHERE_UNSUPPORTED unless the provider answers the whole filter and order itself. */
export function assertFullyPushed(plan: Plan): void {
  if (plan.residual === undefined && plan.sortPushed) return;
  const details = plan.decisions
    .filter((decision) => decision.exactness !== 'exact')
    .map(({ position, length, predicate, reason }) => ({ position, length, message: `${predicate}: ${reason}.` }));
  const sort = plan.sortPushed ? [] : [{ message: 'The provider cannot sort by these fields.' }];
  throw new AppError(
    'WHERE_UNSUPPORTED',
    'The provider cannot answer this query alone, and pushdown-only was asked for.',
    {
      details: [...details, ...sort],
    },
  );
}
