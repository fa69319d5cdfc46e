import { isDeepStrictEqual } from 'node:util';
import { ExactNumber, isJsonObject } from '../numbers/exact-json.ts';
import {
  type Condition,
  isGroup,
  type MappedQueryable,
  operatorOf,
  type Predicate,
  type PushedField,
  predicatesOf,
  printLikePattern,
  type Rewritten,
  readLikePattern,
  readLiteral,
  type Value,
  WHERE_LIMITS,
} from '../where/index.ts';
import type { CompiledMapping } from './compile.ts';
import { isScalar, local, plain, textLiteral } from './rewritten.ts';

/**
 * The values of a filter as the script of a mapping sees and changes them (`applyJSOnQueryFieldValue`). A changed value decides which rows
 * the provider returns. The core checks them against the filter as it was written, so no wrong row is returned, but the rows that the
 * changed value does not find are missing.
 */

/** One comparison of a filter, as a script sees it. The value of IN and NOT IN is a list. */
export interface FilterValue {
  readonly attribute: string;
  readonly operator: string;
  readonly value: unknown;
}

/** A predicate on a mapped field, with the condition on fields of the provider whose values a script may change. */
interface Askable {
  readonly source: Predicate;
  readonly condition: Condition;
}

/** A filter whose values a script may change. */
interface ChangeableFilter {
  /** The comparisons in the fields of the provider, in the order of the filter. */
  readonly vendor: readonly FilterValue[];
  /** The comparisons as the caller wrote them, each at the position of what it becomes. */
  readonly mapped: readonly FilterValue[];
  /**
   * Returns the change that a script made, or the reason why it cannot be used. Undefined where it changed nothing.
   * @param where what the script returned
   */
  readonly read: (where: unknown) => FilterChange | string | undefined;
}

/** The values that a script gave to a filter. */
export interface FilterChange {
  /** Differs for any two changes of the same filter. */
  readonly mark: string;
  /** Returns the object as the planner takes it, with the changed conditions. */
  readonly apply: <Each extends MappedQueryable>(queryable: Each) => Each;
}

const CHANGED =
  'the script of the mapping changed the value, so Causeway checks the rows again; rows that it does not find are missing';

/** Returns the values of a filter that the script of a mapping may change. Undefined when there are none. */
export function changeableFilter(
  condition: Condition | undefined,
  { rewriting, scriptSourceOf }: Pick<CompiledMapping, 'rewriting' | 'scriptSourceOf'>,
): ChangeableFilter | undefined {
  const sources = predicatesOf(condition);
  const askable = sources.flatMap((source): readonly Askable[] => {
    const field = scriptSourceOf(source.field.name);
    // The value of a field that the script writes is the caller's: only the script knows what it is at the provider.
    if (field !== undefined) return canHold(source, field) ? [{ source, condition: { ...source, field } }] : [];
    const rewritten = rewriting.rewrite(source);
    return rewritten.kind === 'rewritten' ? [{ source, condition: withoutShortLists(rewritten.condition) }] : [];
  });
  const parts = askable.flatMap(({ source, condition: asked }) => valuedIn(asked).map((part) => ({ source, part })));
  if (parts.length === 0) return undefined;
  return {
    vendor: parts.map(({ part }) => toFilterValue(part)),
    mapped: parts.map(({ source }) => toFilterValue(source)),
    read: (where) => readChange(where, askable, sources),
  };
}

/** Returns the condition with an equality in place of each list of one value, as a script expects it. */
function withoutShortLists(condition: Condition): Condition {
  if (isGroup<Condition>(condition)) return { ...condition, operands: condition.operands.map(withoutShortLists) };
  if (condition.kind !== 'in' || condition.values.length !== 1) return condition;
  const { field, negated, values, loc } = condition;
  const [value] = values;
  return value === undefined ? condition : { kind: 'compare', field, operator: negated ? '!=' : '=', value, loc };
}

function valuedIn(condition: Condition): readonly Predicate[] {
  return predicatesOf(condition).filter(({ kind }) => kind !== 'isNull');
}

function toFilterValue(predicate: Predicate): FilterValue {
  return { attribute: predicate.field.name, operator: operatorOf(predicate), value: shownValue(predicate) };
}

/** Returns whether a field of the provider can have the operator of a predicate. */
function canHold(predicate: Predicate, { type }: PushedField): boolean {
  if (!isScalar(type) || predicate.kind === 'isNull') return false;
  if (predicate.kind === 'like') return type === 'string';
  const isOrdered = predicate.kind === 'compare' && predicate.operator !== '=' && predicate.operator !== '!=';
  return !isOrdered || type !== 'boolean';
}

function shownValue(predicate: Predicate): unknown {
  switch (predicate.kind) {
    case 'compare':
      return plain(predicate.value);
    case 'in':
      return predicate.values.map(plain);
    case 'like':
      return printLikePattern(predicate.pattern);
    case 'isNull':
      return null;
  }
}

const LONGEST_VALUES = WHERE_LIMITS.textBytes;

function readChange(
  where: unknown,
  askable: readonly Askable[],
  sources: readonly Predicate[],
): FilterChange | string | undefined {
  const parts = askable.flatMap(({ condition }) => valuedIn(condition));
  if (!Array.isArray(where)) return 'The script returned no filter.';
  const isSame = where.length === parts.length && parts.every((part, index) => isOf(where[index], part));
  if (!isSame) return 'The script changed more of the filter than its values.';
  const values = where.map((entry: unknown): unknown => (isJsonObject(entry) ? entry.value : undefined));
  const mark = JSON.stringify(values);
  if (Buffer.byteLength(mark) > LONGEST_VALUES)
    return `The values that the script made have more than ${LONGEST_VALUES} bytes of JSON.`;
  const changed = new Map<Predicate, Predicate>();
  for (const [index, part] of parts.entries()) {
    if (isDeepStrictEqual(values[index], shownValue(part))) continue;
    const predicate = withValue(part, values[index]);
    if (predicate === undefined) return invalidValue(part);
    changed.set(part, predicate);
  }
  if (changed.size === 0) return undefined;
  const rewritten = new Map(
    askable.flatMap(({ source, condition }) => {
      const other = replace(condition, changed);
      return other === condition ? [] : [[source, toRewritten(other)] as const];
    }),
  );
  return { mark, apply: (queryable) => withRewritten(queryable, rewritten, sources) };
}

function toRewritten(condition: Condition): Rewritten {
  return { kind: 'rewritten', condition, isWider: true, reason: CHANGED };
}

function isOf(entry: unknown, predicate: Predicate): boolean {
  if (!isJsonObject(entry)) return false;
  return entry.attribute === predicate.field.name && entry.operator === operatorOf(predicate);
}

function invalidValue({ kind, field }: Predicate): string {
  const wanted = kind === 'in' ? `a list of values of the type ${field.type}` : `a value of the type ${field.type}`;
  return `The script made a value of '${field.name}' that is not ${wanted}.`;
}

/** Returns a predicate with another value, or undefined for a value that the field cannot have. */
function withValue(predicate: Predicate, value: unknown): Predicate | undefined {
  switch (predicate.kind) {
    case 'compare': {
      const read = readValue(value, predicate.field);
      return read && { ...predicate, value: read };
    }
    case 'in': {
      const values = Array.isArray(value)
        ? value.flatMap((each: unknown) => readValue(each, predicate.field) ?? [])
        : [];
      const isRead = Array.isArray(value) && values.length === value.length && values.length > 0;
      return isRead && values.length <= WHERE_LIMITS.inMembers ? { ...predicate, values } : undefined;
    }
    case 'like':
      return typeof value === 'string' ? { ...predicate, pattern: readLikePattern(value) } : undefined;
    case 'isNull':
      return undefined;
  }
}

function readValue(value: unknown, { type }: PushedField): Value | undefined {
  const isSingle = ['string', 'number', 'boolean'].includes(typeof value) || value instanceof ExactNumber;
  return isSingle && isScalar(type) ? readLiteral(textLiteral(String(value)), type) : undefined;
}

/** Returns the same condition where nothing of it changed. */
function replace(condition: Condition, changed: ReadonlyMap<Predicate, Predicate>): Condition {
  if (!isGroup<Condition>(condition)) return changed.get(condition) ?? condition;
  const operands = condition.operands.map((operand) => replace(operand, changed));
  return operands.some((operand, index) => operand !== condition.operands[index])
    ? { ...condition, operands }
    : condition;
}

/**
 * Returns the object with these conditions in place of those that it makes of the predicates of the filter. The planner makes other
 * predicates of them, such as a piece of a list. On a field with a changed value, the core checks those itself, because their values are
 * not those of the script.
 */
function withRewritten<Each extends MappedQueryable>(
  queryable: Each,
  rewritten: ReadonlyMap<Predicate, Rewritten>,
  sources: readonly Predicate[],
): Each {
  const { rewriting } = queryable;
  const known = new Set(sources);
  const names = new Set([...rewritten.keys()].map(({ field }) => field.name));
  const rewriteOne = (predicate: Predicate): Rewritten => {
    const own = rewritten.get(predicate);
    if (own !== undefined) return own;
    const isOther = names.has(predicate.field.name) && !known.has(predicate);
    return isOther ? local('the script of the mapping changed the value') : rewriting.rewrite(predicate);
  };
  return { ...queryable, rewriting: { ...rewriting, rewrite: rewriteOne } };
}
