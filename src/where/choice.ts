import { foldText } from './collation.ts';
import { type Condition, isGroup, join, predicatesOf } from './condition.ts';
import { heldValues } from './domain.ts';
import { isList, type List, widenLists } from './lists.ts';
import type { BooleanShape, Queryable, Translator, Value } from './model.ts';
import { push } from './push.ts';
import { fitShape, type Shaped } from './shape.ts';
import { translate } from './translate.ts';

/** The pushed form of one conjunct of a filter. */
interface PushedPart {
  readonly source: Condition;
  /** The pushed condition. It is absent where the source matches every row. */
  readonly condition: Condition | undefined;
  readonly exact: boolean;
  /** Whether the condition is wider than its source, because lists in it are too long. */
  readonly isWidened?: true;
}

/** The conjuncts of a filter that one query pushes. */
export interface Choice {
  readonly sources: readonly Condition[];
  readonly parts: readonly PushedPart[];
  /** Why conjuncts are not among the parts, and why others are widened. */
  readonly reasons: ReadonlyMap<Condition, string>;
  /** Lists that the provider accepts, but not as a whole. They are widened or not pushed. */
  readonly tooLong: ReadonlySet<Condition>;
  readonly pushed?: Condition;
  readonly native?: unknown;
}

/** Returns whether the conjunct at an index is pushed exactly. */
export function isExactAt({ sources, parts }: Choice, index: number): boolean {
  return parts.some((part) => part.exact && part.source === sources[index]);
}

/**
 * Chooses all pushable parts if the provider accepts them together. Otherwise it chooses as many as fit, and wider conditions for lists
 * that do not. Returns `never` where one of the conjuncts matches no row.
 */
export function choose(sources: readonly Condition[], queryable: Queryable): Choice | 'never' {
  const { translator } = queryable;
  const reasons = new Map<Condition, string>();
  const settled: PushedPart[] = [];
  const pushable: PushedPart[] = [];
  for (const source of sources) {
    const pushed = push(source, queryable);
    if (pushed.kind === 'never') return 'never';
    if (pushed.kind === 'always') settled.push({ source, condition: undefined, exact: true });
    else if (pushed.kind === 'unasked') reasons.set(source, pushed.reason);
    else if (translator === undefined) reasons.set(source, 'the provider accepts no filter');
    else pushable.push({ source, condition: pushed.condition, exact: pushed.exactness === 'exact' });
  }
  const tooLong = new Set<Condition>();
  if (translator === undefined) return { sources, parts: settled, reasons, tooLong };
  for (let parts: readonly PushedPart[] = pushable; ; ) {
    const fitting = fitTogether(parts, queryable, translator, reasons);
    const left = parts.filter((part) => part.isWidened !== true && !fitting.parts.includes(part));
    for (const { source } of left) if (isList(source)) tooLong.add(source);
    const wider = left.flatMap((part) => widen(part, queryable));
    if (wider.length === 0) return { sources, ...fitting, parts: [...settled, ...fitting.parts], reasons, tooLong };
    parts = [...fitting.parts, ...wider];
  }
}

function widen({ source }: PushedPart, queryable: Queryable): readonly PushedPart[] {
  const condition = widenLists(source, queryable);
  return condition === undefined ? [] : [{ source, condition, exact: false, isWidened: true }];
}

function fitTogether(
  pushable: readonly PushedPart[],
  queryable: Queryable,
  translator: Translator<unknown>,
  reasons: Map<Condition, string>,
): Pick<Choice, 'parts' | 'pushed' | 'native'> {
  const fitting = 'condition' in fitAll(pushable, queryable) ? pushable : chooseSome(pushable, queryable, reasons);
  return shorten(fitting, queryable, translator, reasons);
}

/** Maximum number of queries for one list: as many calls as one request may need by default. Beyond it, reading all rows is no worse. */
const MOST_QUERIES = 25;

/**
 * Divides the filter at its first list that is too long, into as few queries as the provider accepts, each with one piece of the list. A
 * few exact queries cost less than reading all rows. Returns undefined when there is no such list, or when it would need too many pieces.
 */
export function divide(whole: Choice, queryable: Queryable): readonly [Choice, ...Choice[]] | undefined {
  const list = whole.sources.filter(isList).find((source) => whole.tooLong.has(source));
  if (list === undefined) return undefined;
  const values = distinctUnder(list);
  const most = Math.min(MOST_QUERIES, values.length);
  const take = (count: number, pieces: number) => takePieces({ whole, list, values, count, pieces }, queryable);
  // If the provider accepts a piece, it accepts half of it, so a binary search finds the fewest pieces. Texts may differ in length, so all
  // pieces are checked.
  for (let count = leastTaken(2, most, (each) => take(each, 1).length === 1); count <= most; count++) {
    const [first, ...more] = take(count, count);
    if (first !== undefined && more.length === count - 1) return [first, ...more];
  }
  return undefined;
}

/** Returns the smallest number from `low` to `high` that passes, where all greater ones pass too; `high` + 1 where none does. */
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
  /** Number of pieces to check. */
  readonly pieces: number;
}

/**
 * Returns a query for each piece, up to the first that is still too long. Conjuncts that were not pushed beside the whole list are not
 * tried again.
 */
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

/** Returns the values that the field can hold, without those that would match the same rows. */
function distinctUnder({ field, values }: List): List['values'] {
  const keyOf = (value: Value) =>
    value.kind === 'string'
      ? foldText(value.value, field.collation)
      : value.kind === 'boolean'
        ? value.value
        : value.text;
  return [...new Map(heldValues(field, values).map((value) => [keyOf(value), value])).values()];
}

/** Cuts a list into pieces whose lengths differ by at most one. */
function cut(values: List['values'], count: number): readonly List['values'][] {
  return Array.from({ length: count }, (_, index) =>
    values.slice(Math.ceil((index * values.length) / count), Math.ceil(((index + 1) * values.length) / count)),
  );
}

function chooseSome(
  pushable: readonly PushedPart[],
  queryable: Queryable,
  reasons: Map<Condition, string>,
): readonly PushedPart[] {
  const chosen: PushedPart[] = [];
  for (const part of byImportance(pushable, queryable)) {
    const shaped = fitAll([...chosen, part], queryable);
    if ('reason' in shaped) reasons.set(part.source, shaped.reason);
    else chosen.push(part);
  }
  return chosen;
}

/** Sorts required filters first, then the parts that use least of the provider's limits. */
function byImportance(parts: readonly PushedPart[], { requiredFilters = [] }: Queryable): readonly PushedPart[] {
  const rank = ({ condition }: PushedPart) =>
    requiredFilters.some((name) => condition && constrains(condition, name)) ? 0 : sizeOf(condition);
  return [...parts].sort((a, b) => rank(a) - rank(b));
}

function sizeOf(condition: Condition | undefined): number {
  return predicatesOf(condition).reduce((sum, each) => sum + (each.kind === 'in' ? each.values.length : 1), 0);
}

function fitAll(parts: readonly PushedPart[], queryable: Queryable): Shaped {
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

/** Translates the parts, and drops the least important ones until the provider accepts the result. */
function shorten(
  fitting: readonly PushedPart[],
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
  if (lengthOf(native) > maxLength) return `the provider accepts filters of at most ${maxLength} characters`;
  const isTooMuch = terms !== undefined && terms(native) > maxTerms;
  return isTooMuch ? `the provider accepts at most ${maxTerms} predicates` : fault?.(native);
}

function lengthOf(native: unknown): number {
  return typeof native === 'string' ? native.length : JSON.stringify(native).length;
}

/** Returns whether the condition tests the field for every row that matches. */
export function constrains(condition: Condition, name: string): boolean {
  if (!isGroup<Condition>(condition)) return condition.field.name === name;
  return condition.kind === 'and'
    ? condition.operands.some((operand) => constrains(operand, name))
    : condition.operands.every((operand) => constrains(operand, name));
}
