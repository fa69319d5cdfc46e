import { AppError, cutText, listFaults, MOST_FAULTS } from '../errors.ts';
import { type Condition, conjuncts, isGroup, join, predicatesOf } from './condition.ts';
import type { BooleanShape, PushedField, Queryable, Translator, Value } from './model.ts';
import { print } from './print.ts';
import { push } from './push.ts';
import { fitShape, type Shaped } from './shape.ts';
import { translate } from './translate.ts';

/** What happens to one predicate of a filter, for people. */
export interface Decision {
  readonly predicate: string;
  readonly position: number;
  readonly length: number;
  /** How the provider answers it; `none`: it cannot. */
  readonly exactness: 'exact' | 'superset' | 'none';
  readonly pushed: boolean;
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
  const all = conjuncts(input.condition);
  const { parts, reasons, ...native } = choose(all, queryable);
  const bySource = new Map(parts.map((part) => [part.source, part]));
  const residual = join(
    'and',
    all.filter((source) => bySource.get(source)?.exact !== true),
  );
  const asked = native.pushed !== undefined || Object.keys(input.parameters).length > 0;
  assertRequired(queryable, native.pushed, input.parameters);
  return {
    ...native,
    ...(residual !== undefined && { residual }),
    parameters: input.parameters,
    orderBy: input.orderBy,
    sortPushed: canSort(queryable, input.orderBy),
    decisions: all.flatMap((source) =>
      decide(source, { isPushed: bySource.has(source), reason: reasonFor(source, reasons) }, queryable),
    ),
    pushdown: residual === undefined ? 'full' : asked ? 'partial' : 'none',
  };
}

interface Choice {
  readonly parts: readonly Part[];
  /** Why the others are not among the parts. */
  readonly reasons: ReadonlyMap<Condition, string>;
  readonly pushed?: Condition;
  readonly native?: unknown;
}

/** All pushable parts if the provider takes them together; otherwise as many as fit. */
function choose(all: readonly Condition[], queryable: Queryable): Choice {
  const { translator } = queryable;
  if (translator === undefined) {
    return { parts: [], reasons: new Map(all.map((source) => [source, 'the provider takes no filter'])) };
  }
  const reasons = new Map<Condition, string>();
  const pushable = all.flatMap((source): Part[] => {
    const part = push(source, queryable);
    if (part.condition !== undefined) return [{ source, condition: part.condition, exact: part.exactness === 'exact' }];
    reasons.set(source, part.reason);
    return [];
  });
  const fitting = 'condition' in fitAll(pushable, queryable) ? pushable : chooseSome(pushable, queryable, reasons);
  return { ...shorten(fitting, queryable, translator, reasons), reasons };
}

function chooseSome(pushable: readonly Part[], queryable: Queryable, reasons: Map<Condition, string>): readonly Part[] {
  const chosen: Part[] = [];
  for (const part of byImportance(pushable, queryable)) {
    const shaped = fitAll([...chosen, part], queryable);
    if ('reason' in shaped) reasons.set(part.source, shaped.reason);
    else chosen.push(part);
  }
  return chosen;
}

/** What the provider demands first, then plain predicates, then groups, which take more of its limits. */
function byImportance(parts: readonly Part[], { requiredFilters = [] }: Queryable): readonly Part[] {
  const rank = ({ condition }: Part) => {
    if (requiredFilters.some((name) => constrains(condition, name))) return 0;
    return isGroup(condition) ? 2 : 1;
  };
  return [...parts].sort((a, b) => rank(a) - rank(b));
}

function fitAll(parts: readonly Part[], queryable: Queryable): Shaped {
  const joined = join(
    'and',
    parts.map((part) => part.condition),
  );
  if (joined === undefined) return { reason: 'nothing of it can be pushed' };
  return fitShape(joined, shapeOf(queryable), queryable.limits);
}

function shapeOf(queryable: Queryable): BooleanShape {
  return queryable.shape ?? { kind: 'and' };
}

/** Translates, and gives up the least important parts while the text is longer than the provider takes. */
function shorten(
  fitting: readonly Part[],
  queryable: Queryable,
  translator: Translator<unknown>,
  reasons: Map<Condition, string>,
): Omit<Choice, 'reasons'> {
  const maxLength = queryable.limits?.maxLength ?? Number.POSITIVE_INFINITY;
  let parts = fitting;
  for (;;) {
    const shaped = fitAll(parts, queryable);
    if ('reason' in shaped) return { parts: [] };
    const native = translate(shaped.condition, translator);
    if (lengthOf(native) <= maxLength) return { parts, pushed: shaped.condition, native };
    const dropped = byImportance(parts, queryable).at(-1);
    parts = parts.filter((part) => part !== dropped);
    if (dropped) reasons.set(dropped.source, `the provider takes filters of at most ${maxLength} characters`);
  }
}

function lengthOf(native: unknown): number {
  return typeof native === 'string' ? native.length : JSON.stringify(native).length;
}

const RECHECKED = 'the provider may return more rows than meant, so they are checked again';

interface Fate {
  readonly isPushed: boolean;
  /** Why not, where the part as a whole could not be. */
  readonly reason: string | undefined;
}

/** One decision per predicate of a top-level part; what stands in an OR shares the fate of the whole OR. */
function decide(source: Condition, fate: Fate, queryable: Queryable): readonly Decision[] {
  return predicatesOf(source).map((predicate) => {
    const alone = push(predicate, queryable);
    const exactness = alone.condition === undefined ? 'none' : alone.exactness;
    const isPushed = fate.isPushed && exactness !== 'none';
    const reason =
      alone.condition === undefined ? alone.reason : isPushed ? RECHECK_REASONS[alone.exactness] : fate.reason;
    const { offset: position, length } = predicate.loc;
    return {
      predicate: print(predicate),
      position,
      length,
      exactness,
      pushed: isPushed,
      ...(reason !== undefined && { reason }),
    };
  });
}

function reasonFor(source: Condition, reasons: ReadonlyMap<Condition, string>): string | undefined {
  const reason = reasons.get(source);
  return isGroup<Condition>(source) && reason !== undefined
    ? `it stands in an OR that cannot be pushed: ${reason}`
    : reason;
}

const RECHECK_REASONS = { exact: undefined, superset: RECHECKED } as const;

function canSort(queryable: Queryable, orderBy: readonly OrderBy[]): boolean {
  const most = queryable.limits?.maxSortFields ?? Number.POSITIVE_INFINITY;
  return orderBy.length <= most && orderBy.every(({ field }) => field.sortable === true);
}

function assertRequired(
  queryable: Queryable,
  pushed: Condition | undefined,
  parameters: Readonly<Record<string, Value>>,
): void {
  const isGiven = (name: string) => Object.hasOwn(parameters, name) || (pushed && constrains(pushed, name));
  const missing = (queryable.requiredFilters ?? []).filter((name) => !isGiven(name));
  if (missing.length === 0) return;
  const names = missing.map((name) => `'${name}'`).join(' and ');
  throw new AppError(
    'WHERE_UNSUPPORTED',
    `The provider lists this object only with a filter on ${names}, joined by AND.`,
    {
      details: missing.map((name) => ({ message: `Add a condition on '${name}'.` })),
    },
  );
}

/** Whether every row that the condition is true for was tested on the field. */
function constrains(condition: Condition, name: string): boolean {
  if (!isGroup<Condition>(condition)) return condition.field.name === name;
  return condition.kind === 'and'
    ? condition.operands.some((operand) => constrains(operand, name))
    : condition.operands.every((operand) => constrains(operand, name));
}

/** @throws AppError WHERE_UNSUPPORTED unless the provider answers the whole filter and order itself. */
export function assertFullyPushed(plan: Plan): void {
  if (plan.residual === undefined && plan.sortPushed) return;
  const details = plan.decisions
    .filter((decision) => decision.exactness !== 'exact' || !decision.pushed)
    .slice(0, MOST_FAULTS + 1)
    .map(({ position, length, predicate, reason }) => ({
      position,
      length,
      message: `${cutText(predicate)}: ${reason}.`,
    }));
  const sort = plan.sortPushed ? [] : [{ message: 'The provider cannot sort by these fields.' }];
  throw new AppError(
    'WHERE_UNSUPPORTED',
    'The provider cannot answer this query alone, and pushdown-only was asked for.',
    {
      details: listFaults([...details, ...sort]),
    },
  );
}
