import { AppError, cutText, listFaults, MOST_FAULTS } from '../errors.ts';
import { pushedField } from './check.ts';
import { type Choice, choose, constrains, divide, isExactAt } from './choice.ts';
import { type Condition, conjuncts, join, type Predicate } from './condition.ts';
import { type Constant, type Decision, decide, type Fate, fateAt } from './decisions.ts';
import type { PushedField, Queryable, Value } from './model.ts';
import { isMapped } from './rewriting.ts';
import { readLiteral } from './values.ts';

/** A continuation of a query behind the last row that a provider returns for it. */
interface GoOn {
  readonly idField: PushedField;
  /**
   * Returns a query of the plan for the rows whose id comes after the given one. Undefined where the provider cannot be queried so. Its
   * rows need the same residual filter as those of the query.
   */
  readonly queryAfter: (query: number, id: string) => ProviderQuery | undefined;
}

/** One term of an order: a field and its direction. */
export interface OrderBy {
  readonly field: PushedField;
  readonly direction: 'asc' | 'desc';
}

/** One query to the provider. */
export interface ProviderQuery {
  readonly pushed?: Condition;
  /** The pushed part in the provider's syntax. */
  readonly native?: unknown;
  /** The part of the filter that the core checks again. */
  readonly residual?: Condition;
}

/** The plan of a query: what the provider is queried with, and what the core checks again. */
export interface Plan extends ProviderQuery {
  /**
   * The queries to the provider, one after the other: several where a list is longer than it accepts. A row that passes the residual filter
   * belongs to one of them only. `native` is that of the first. Empty where no row can match.
   */
  readonly queries: readonly ProviderQuery[];
  /** The result of the whole filter, where the possible values of the fields decide it. */
  readonly holds?: Constant;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly orderBy: readonly OrderBy[];
  readonly sortPushed: boolean;
  /**
   * The order that the provider is queried with: the requested order, if it supports all of it, and then the id, so that no row moves
   * between pages.
   */
  readonly providerOrder: readonly OrderBy[];
  /**
   * The continuation of the query behind an id. It is present where the rows arrive in the order of their ids and the provider can filter by `>`
   * of it.
   */
  readonly goOnAfter?: GoOn;
  readonly decisions: readonly Decision[];
  readonly pushdown: 'full' | 'partial' | 'none';
}

/** The input of the planner. */
export interface PlanInput {
  readonly condition: Condition | undefined;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly orderBy: readonly OrderBy[];
}

/**
 * Chooses the largest part of a filter that the provider can evaluate; the rest is the residual.
 * @throws AppError WHERE_UNSUPPORTED when the provider requires a filter on a field and none can be pushed
 */
export function planQuery(queryable: Queryable, input: PlanInput): Plan {
  const all = conjuncts(input.condition);
  const sortPushed = canSort(queryable, input.orderBy);
  const whole = choose(all, queryable);
  if (whole === 'never') return planNothing(queryable, input, all);
  // The rows of several queries arrive query by query, which is no requested order.
  const mayDivide = input.orderBy.length === 0 || !sortPushed;
  const [first, ...more] = (mayDivide ? divide(whole, queryable) : undefined) ?? [whole];
  const queries = [queryOf(first), ...more.map(queryOf)] as const;
  for (const { pushed } of queries) assertRequired(queryable, pushed, input.parameters);
  const residual = join(
    'and',
    all.filter((_, index) => [first, ...more].some((choice) => !isExactAt(choice, index))),
  );
  const pushed = join(
    'or',
    queries.flatMap((query) => query.pushed ?? []),
  );
  const asked = pushed !== undefined || Object.keys(input.parameters).length > 0;
  const providerOrder = orderById(queryable, sortPushed ? input.orderBy : []);
  const goOnAfter = goOnById(queryable, providerOrder, [first, ...more]);
  const isAlways = all.length > 0 && residual === undefined && pushed === undefined;
  return {
    ...(pushed !== undefined && { pushed, native: first.native }),
    ...(residual !== undefined && { residual }),
    queries,
    ...(isAlways && { holds: 'always' }),
    parameters: input.parameters,
    orderBy: input.orderBy,
    sortPushed,
    providerOrder,
    ...(goOnAfter !== undefined && { goOnAfter }),
    decisions: all.flatMap((source, index) => decide(source, fateAt(first, index), queryable)),
    pushdown: residual === undefined ? 'full' : asked ? 'partial' : 'none',
  };
}

/** Returns the plan of a filter that no row can match: the provider is not queried. */
function planNothing(queryable: Queryable, { parameters, orderBy }: PlanInput, all: readonly Condition[]): Plan {
  const fate: Fate = { pushed: 'not', reason: 'no row can match the filter, so Causeway does not call the provider' };
  return {
    queries: [],
    holds: 'never',
    parameters,
    orderBy,
    sortPushed: true,
    providerOrder: [],
    decisions: all.flatMap((source) => decide(source, fate, queryable)),
    pushdown: 'full',
  };
}

function orderById(queryable: Queryable, orderBy: readonly OrderBy[]): readonly OrderBy[] {
  const { idField = 'id', fields, limits = {} } = queryable;
  const spec = Object.hasOwn(fields, idField) ? fields[idField] : undefined;
  const isFull = orderBy.length >= (limits.maxSortFields ?? Number.POSITIVE_INFINITY);
  if (spec?.sortable !== true || isFull || orderBy.some(({ field }) => field.name === idField)) return orderBy;
  return [...orderBy, { field: pushedField(idField, spec), direction: 'asc' }];
}

/** Only ids differ in all rows, so this needs rows in the order of the id alone. */
function goOnById(queryable: Queryable, order: readonly OrderBy[], choices: readonly Choice[]): GoOn | undefined {
  const [term] = order;
  const { idField = 'id' } = queryable;
  if (queryable.limits?.resultWindow === undefined || order.length !== 1 || term?.field.name !== idField)
    return undefined;
  const { field, direction } = term;
  const operator = direction === 'asc' ? '>' : '<';
  if (field.nullable !== false || field.filter?.[operator] !== 'exact') return undefined;
  return {
    idField: field,
    queryAfter: (query, id) => {
      const value = readId(field, id);
      const choice = choices[query];
      if (value === undefined || choice === undefined) return undefined;
      const after: Predicate = { kind: 'compare', field, operator, value, loc: { offset: 0, length: 0 } };
      const next = choose([...choice.sources, after], queryable);
      if (next === 'never') return undefined;
      const isAsExact = [...choice.sources, after].every(
        (source, index) => isExactAt(next, index) || (source !== after && !isExactAt(choice, index)),
      );
      return isAsExact ? queryOf(next) : undefined;
    },
  };
}

function readId({ type }: PushedField, text: string): Value | undefined {
  if (type === 'object' || type === 'array') return undefined;
  return readLiteral({ kind: 'string', text, loc: { offset: 0, length: 0 } }, type);
}

function queryOf({ sources, pushed, native, parts }: Choice): ProviderQuery {
  const exact = new Set(parts.filter((part) => part.exact).map(({ source }) => source));
  const residual = join(
    'and',
    sources.filter((source) => !exact.has(source)),
  );
  return { ...(pushed !== undefined && { pushed, native }), ...(residual !== undefined && { residual }) };
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
  const isGiven = (name: string) => Object.hasOwn(parameters, name) || (pushed && constrains(pushed, name));
  const missing = (queryable.requiredFilters ?? []).filter((name) => !isGiven(name));
  if (missing.length === 0) return;
  const shown = missing.map((name) => (isMapped(queryable) ? (queryable.rewriting.nameOf(name) ?? name) : name));
  const names = shown.map((name) => `'${name}'`).join(' and ');
  throw new AppError(
    'WHERE_UNSUPPORTED',
    `The provider lists this object only with a filter on ${names}, joined by AND.`,
    {
      details: shown.map((name) => ({ message: `Add a condition on '${name}'.` })),
    },
  );
}

/**
 * Asserts that the provider evaluates the whole filter and order.
 * @throws AppError WHERE_UNSUPPORTED that names the predicates and the fields of the order that it does not evaluate
 */
export function assertFullyPushed(plan: Plan): void {
  if (plan.residual === undefined && plan.sortPushed) return;
  const details = plan.decisions
    .filter(({ exactness, pushed, holds }) => holds === undefined && (exactness !== 'exact' || !pushed))
    .slice(0, MOST_FAULTS + 1)
    .map(({ position, length, predicate, reason }) => ({
      position,
      length,
      message: `${cutText(predicate)}: ${reason}.`,
    }));
  const sort = plan.sortPushed ? [] : [{ message: 'The provider cannot sort by these fields.' }];
  throw new AppError(
    'WHERE_UNSUPPORTED',
    'The provider cannot evaluate this query completely, as pushdown-only requires. Change the parts that the details name, or leave out pushdown-only.',
    {
      details: listFaults([...details, ...sort]),
    },
  );
}
