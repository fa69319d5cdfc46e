import { AppError, cutText, listFaults, MOST_FAULTS } from '../errors.ts';
import { pushedField } from './check.ts';
import { foldText } from './collation.ts';
import { type Condition, conjuncts, isGroup, join, type Predicate, predicatesOf } from './condition.ts';
import { heldValues } from './domain.ts';
import { isList, type List, widenLists } from './lists.ts';
import type { BooleanShape, PushedField, Queryable, Translator, Value } from './model.ts';
import { print } from './print.ts';
import { push } from './push.ts';
import { fitShape, type Shaped } from './shape.ts';
import { translate } from './translate.ts';
import { readLiteral } from './values.ts';

/** What happens to one predicate of a filter, for people. */
export interface Decision {
  readonly predicate: string;
  readonly position: number;
  readonly length: number;
  /** How the provider answers it; `none`: it cannot. */
  readonly exactness: 'exact' | 'superset' | 'none';
  readonly pushed: boolean;
  /** What it is by itself, where the values that its field can hold decide it: then nobody is asked. */
  readonly holds?: Constant;
  readonly reason?: string;
}

/** How a query goes on behind the rows that a provider shows of it. */
export interface GoOn {
  readonly idField: PushedField;
  /**
   * A query of the plan for the rows whose id comes after this one; undefined where it cannot be asked for. Its rows are checked again
   * as those of the query.
   */
  readonly queryAfter: (query: number, id: string) => ProviderQuery | undefined;
}

/** True for no row, or for every row. */
export type Constant = 'never' | 'always';

export interface OrderBy {
  readonly field: PushedField;
  readonly direction: 'asc' | 'desc';
}

/** One query to the provider. */
export interface ProviderQuery {
  readonly pushed?: Condition;
  /** The pushed part in the provider's syntax. */
  readonly native?: unknown;
  /** What is checked again here. */
  readonly residual?: Condition;
}

/** How a query is answered: what the provider is asked, and what is checked again here. */
export interface Plan extends ProviderQuery {
  /**
   * What the provider is asked, one after the other: several where a list is longer than it takes at once. No row that passes what is
   * checked again belongs to two of them. `native` is that of the first. None where no row can pass the filter.
   */
  readonly queries: readonly ProviderQuery[];
  /** Where the values that the fields can hold decide the whole filter. */
  readonly holds?: Constant;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly orderBy: readonly OrderBy[];
  readonly sortPushed: boolean;
  /** What the provider is told: the order asked for, if it can have all of it, and the id, so that no row moves between its pages. */
  readonly providerOrder: readonly OrderBy[];
  /** Present where the rows come in the order of their ids and the provider can go on behind one. */
  readonly goOnAfter?: GoOn;
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
  /** Absent where the source is true for every row. */
  readonly condition: Condition | undefined;
  readonly exact: boolean;
  /** Only a wider question, as lists in it are too long. */
  readonly isWidened?: true;
}

/**
 * Chooses the largest part of a filter that the provider can answer; the rest is the residual.
 * @throws AppError WHERE_UNSUPPORTED when the provider demands a filter on a field and none can be pushed.
 */
export function planQuery(queryable: Queryable, input: PlanInput): Plan {
  const all = conjuncts(input.condition);
  const sortPushed = canSort(queryable, input.orderBy);
  const whole = choose(all, queryable);
  if (whole === 'never') return planNothing(queryable, input, all);
  // Rows of several queries come in the order of the queries, which no order asked for is.
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

/** A filter that no row can pass is answered here. */
function planNothing(queryable: Queryable, { parameters, orderBy }: PlanInput, all: readonly Condition[]): Plan {
  const fate: Fate = { pushed: 'not', reason: 'no row can pass the filter, so the provider is not asked' };
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

/** Only ids are known to be different in all rows, so it takes rows in no other order. */
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

/** What is pushed of a filter's conjuncts in one query. */
interface Choice {
  readonly sources: readonly Condition[];
  readonly parts: readonly Part[];
  /** Why the others are not among the parts, and those that are widened not as they are. */
  readonly reasons: ReadonlyMap<Condition, string>;
  /** Lists that the provider takes, but not at once, whether a wider question is among the parts or nothing of them. */
  readonly tooLong: ReadonlySet<Condition>;
  readonly pushed?: Condition;
  readonly native?: unknown;
}

function queryOf({ sources, pushed, native, parts }: Choice): ProviderQuery {
  const exact = new Set(parts.filter((part) => part.exact).map(({ source }) => source));
  const residual = join(
    'and',
    sources.filter((source) => !exact.has(source)),
  );
  return { ...(pushed !== undefined && { pushed, native }), ...(residual !== undefined && { residual }) };
}

function isExactAt({ sources, parts }: Choice, index: number): boolean {
  return parts.some((part) => part.exact && part.source === sources[index]);
}

/**
 * All pushable parts if the provider takes them together; otherwise as many as fit, and wider ones for lists that do not. `never`
 * where one of them is true for no row.
 */
function choose(sources: readonly Condition[], queryable: Queryable): Choice | 'never' {
  const { translator } = queryable;
  const reasons = new Map<Condition, string>();
  const settled: Part[] = [];
  const pushable: Part[] = [];
  for (const source of sources) {
    const pushed = push(source, queryable);
    if (pushed.kind === 'never') return 'never';
    if (pushed.kind === 'always') settled.push({ source, condition: undefined, exact: true });
    else if (pushed.kind === 'unasked') reasons.set(source, pushed.reason);
    else if (translator === undefined) reasons.set(source, 'the provider takes no filter');
    else pushable.push({ source, condition: pushed.condition, exact: pushed.exactness === 'exact' });
  }
  const tooLong = new Set<Condition>();
  if (translator === undefined) return { sources, parts: settled, reasons, tooLong };
  for (let parts: readonly Part[] = pushable; ; ) {
    const fitting = fitTogether(parts, queryable, translator, reasons);
    const left = parts.filter((part) => part.isWidened !== true && !fitting.parts.includes(part));
    for (const { source } of left) if (isList(source)) tooLong.add(source);
    const wider = left.flatMap((part) => widen(part, queryable));
    if (wider.length === 0) return { sources, ...fitting, parts: [...settled, ...fitting.parts], reasons, tooLong };
    parts = [...fitting.parts, ...wider];
  }
}

function widen({ source }: Part, queryable: Queryable): readonly Part[] {
  const condition = widenLists(source, queryable);
  return condition === undefined ? [] : [{ source, condition, exact: false, isWidened: true }];
}

function fitTogether(
  pushable: readonly Part[],
  queryable: Queryable,
  translator: Translator<unknown>,
  reasons: Map<Condition, string>,
): Pick<Choice, 'parts' | 'pushed' | 'native'> {
  const fitting = 'condition' in fitAll(pushable, queryable) ? pushable : chooseSome(pushable, queryable, reasons);
  return shorten(fitting, queryable, translator, reasons);
}

/** As many calls as one answer may take by default; for more of them, looking through the rows is no worse. */
const MOST_QUERIES = 25;

/**
 * The same filter with its first list that is too long in as few pieces as the provider takes, one in each query: some exact answers
 * cost less than looking through all rows. Undefined when there is no such list, or when it would take too many pieces.
 */
function divide(whole: Choice, queryable: Queryable): readonly [Choice, ...Choice[]] | undefined {
  const list = whole.sources.filter(isList).find((source) => whole.tooLong.has(source));
  if (list === undefined) return undefined;
  const values = distinctUnder(list);
  const most = Math.min(MOST_QUERIES, values.length);
  const take = (count: number, pieces: number) => takePieces({ whole, list, values, count, pieces }, queryable);
  // Half as long a piece is taken wherever a longer one is, so the fewest are found by halving; texts may differ in length.
  for (let count = leastTaken(2, most, (each) => take(each, 1).length === 1); count <= most; count++) {
    const [first, ...more] = take(count, count);
    if (first !== undefined && more.length === count - 1) return [first, ...more];
  }
  return undefined;
}

/** The least number from `low` to `high` that passes, as do all above it; one more than `high` where none does. */
function leastTaken(low: number, high: number, passes: (count: number) => boolean): number {
  if (low > high) return low;
  const middle = Math.floor((low + high) / 2);
  return passes(middle) ? leastTaken(low, middle - 1, passes) : leastTaken(middle + 1, high, passes);
}

interface Division {
  readonly whole: Choice;
  readonly list: List;
  readonly values: List['values'];
  readonly count: number;
  /** How many of them are looked at. */
  readonly pieces: number;
}

/** A query for each piece, up to the first that is still too long. What was not pushed beside the list is not tried again. */
function takePieces({ whole, list, values, count, pieces }: Division, queryable: Queryable): readonly Choice[] {
  const pushed = new Set(whole.parts.map(({ source }) => source));
  const choices: Choice[] = [];
  for (const piece of cut(values, count).slice(0, pieces)) {
    const shorter: List = { ...list, values: piece };
    const tried = whole.sources.filter((source) => source === list || pushed.has(source));
    const choice = choose(replaced(tried, list, shorter), queryable);
    if (choice === 'never' || choice.tooLong.has(shorter) || !takesAll(choice)) break;
    const reasons = new Map([...whole.reasons, ...choice.reasons]);
    choices.push({ ...choice, sources: replaced(whole.sources, list, shorter), reasons });
  }
  return choices;
}

function takesAll({ sources, parts }: Choice): boolean {
  return sources.every((source) => parts.some((part) => part.source === source));
}

function replaced(sources: readonly Condition[], before: Condition, after: Condition): readonly Condition[] {
  return sources.map((source) => (source === before ? after : source));
}

/** The values that the field can hold, of which no row equals two. */
function distinctUnder({ field, values }: List): List['values'] {
  const keyOf = (value: Value) =>
    value.kind === 'string'
      ? foldText(value.value, field.collation)
      : value.kind === 'boolean'
        ? value.value
        : value.text;
  return [...new Map(heldValues(field, values).map((value) => [keyOf(value), value])).values()];
}

/** In pieces of the same length, or one less. */
function cut(values: List['values'], count: number): readonly List['values'][] {
  return Array.from({ length: count }, (_, index) =>
    values.slice(Math.ceil((index * values.length) / count), Math.ceil(((index + 1) * values.length) / count)),
  );
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

/** What the provider demands first, then what takes least of its limits. */
function byImportance(parts: readonly Part[], { requiredFilters = [] }: Queryable): readonly Part[] {
  const rank = ({ condition }: Part) =>
    requiredFilters.some((name) => condition && constrains(condition, name)) ? 0 : sizeOf(condition);
  return [...parts].sort((a, b) => rank(a) - rank(b));
}

function sizeOf(condition: Condition | undefined): number {
  return predicatesOf(condition).reduce((sum, each) => sum + (each.kind === 'in' ? each.values.length : 1), 0);
}

function fitAll(parts: readonly Part[], queryable: Queryable): Shaped {
  const joined = join(
    'and',
    parts.flatMap(({ condition }) => condition ?? []),
  );
  if (joined === undefined) return { reason: 'nothing of it can be pushed' };
  return fitShape(joined, shapeOf(queryable), queryable.limits);
}

function shapeOf(queryable: Queryable): BooleanShape {
  return queryable.shape ?? { kind: 'and' };
}

/** Translates, and gives up the least important parts while the outcome is more than the provider takes. */
function shorten(
  fitting: readonly Part[],
  queryable: Queryable,
  translator: Translator<unknown>,
  reasons: Map<Condition, string>,
): Pick<Choice, 'parts' | 'pushed' | 'native'> {
  let parts = fitting;
  for (;;) {
    const shaped = fitAll(parts, queryable);
    if ('reason' in shaped) return { parts: [] };
    const native = translate(shaped.condition, translator);
    const excess = excessOf(native, queryable, translator);
    if (excess === undefined) return { parts, pushed: shaped.condition, native };
    const dropped = byImportance(parts, queryable).at(-1);
    parts = parts.filter((part) => part !== dropped);
    if (dropped) reasons.set(dropped.source, excess);
  }
}

function excessOf(
  native: unknown,
  { limits = {} }: Queryable,
  { terms, fault }: Translator<unknown>,
): string | undefined {
  const { maxLength = Number.POSITIVE_INFINITY, maxTerms = Number.POSITIVE_INFINITY } = limits;
  if (lengthOf(native) > maxLength) return `the provider takes filters of at most ${maxLength} characters`;
  const isTooMuch = terms !== undefined && terms(native) > maxTerms;
  return isTooMuch ? `the provider takes at most ${maxTerms} predicates` : fault?.(native);
}

function lengthOf(native: unknown): number {
  return typeof native === 'string' ? native.length : JSON.stringify(native).length;
}

const RECHECKED = 'the provider may return more rows than meant, so they are checked again';

interface Fate {
  readonly pushed: 'as it is' | 'widened' | 'not' | 'settled';
  /** Why not, where the part as a whole could not be. */
  readonly reason: string | undefined;
}

function fateAt({ sources, parts, reasons }: Choice, index: number): Fate {
  const source = sources[index];
  const part = parts.find((each) => each.source === source);
  if (part !== undefined && part.condition === undefined) {
    return { pushed: 'settled', reason: 'it stands in an OR that every row passes' };
  }
  if (part !== undefined && part.isWidened !== true) return { pushed: 'as it is', reason: undefined };
  return { pushed: part === undefined ? 'not' : 'widened', reason: source && reasonFor(source, reasons) };
}

/** One decision per predicate of a top-level part; what stands in an OR shares the fate of the whole OR. */
function decide(source: Condition, fate: Fate, queryable: Queryable): readonly Decision[] {
  return predicatesOf(source).map((predicate) => {
    const { offset: position, length } = predicate.loc;
    return { predicate: print(predicate), position, length, ...judge(predicate, fate, queryable) };
  });
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
      reason: `${fate.reason}, so it is asked for more widely and checked again`,
    };
  }
  const pushed = fate.pushed === 'as it is';
  const reason = pushed ? RECHECK_REASONS[alone.exactness] : fate.reason;
  return { exactness: alone.exactness, pushed, ...(reason !== undefined && { reason }) };
}

function reasonFor(source: Condition, reasons: ReadonlyMap<Condition, string>): string | undefined {
  const reason = reasons.get(source);
  return isGroup<Condition>(source) && reason !== undefined
    ? `it stands in an OR that cannot be pushed: ${reason}`
    : reason;
}

const CONSTANT_REASONS: Readonly<Record<Constant, string>> = {
  never: 'no value that the field can hold passes it',
  always: 'every value that the field can hold passes it',
};

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
    'The provider cannot answer this query alone, and pushdown-only was asked for.',
    {
      details: listFaults([...details, ...sort]),
    },
  );
}
