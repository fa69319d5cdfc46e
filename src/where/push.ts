import { compareDecimals } from '../numbers/decimal.ts';
import type { ComparisonOperator } from './ast.ts';
import { type Condition, isGroup, join, operatorOf, type Predicate } from './condition.ts';
import type { Exactness, LikeForm, LikePattern, PushedField, Queryable, Value } from './model.ts';

/** What the provider can be asked of one part of a filter: never less than the part, `superset` when perhaps more. */
export type Push = Pushed | { readonly condition: undefined; readonly reason: string };

interface Pushed {
  readonly condition: Condition;
  readonly exactness: Exactness;
}

/** The largest part of a condition that the declared operators cover; the boolean shape is judged elsewhere. */
export function push(condition: Condition, queryable: Queryable): Push {
  if (!isGroup<Condition>(condition)) return pushPredicate(condition, queryable);
  const pushes = condition.operands.map((operand) => push(operand, queryable));
  const missing = pushes.find((part) => part.condition === undefined);
  // An AND may lose members and only grow; an OR that lost a branch would lose rows.
  if (missing !== undefined && condition.kind === 'or') return { condition: undefined, reason: missing.reason };
  const pushed = pushes.flatMap((part) => (part.condition === undefined ? [] : [part]));
  const joined = join(
    condition.kind,
    pushed.map((part) => part.condition),
  );
  if (joined === undefined) return { condition: undefined, reason: missing?.reason ?? 'nothing of it can be pushed' };
  const exact = missing === undefined && pushed.every((part) => part.exactness === 'exact');
  return { condition: joined, exactness: exact ? 'exact' : 'superset' };
}

function pushPredicate(predicate: Predicate, queryable: Queryable): Push {
  const size = Math.max(1, queryable.limits?.maxInSize ?? Number.POSITIVE_INFINITY);
  if (predicate.kind === 'in' && predicate.values.length > size) return pushChunks(predicate, size, queryable);
  return pushAsIs(predicate) ?? REWRITES.map((rewrite) => rewrite(predicate)).find(isPush) ?? cannot(predicate);
}

function isPush(push: Push | undefined): push is Push {
  return push !== undefined;
}

function cannot(predicate: Predicate): Push {
  const { name, likeExcept } = predicate.field;
  if (predicate.kind === 'like' && surePieces(predicate.field, predicate.pattern.text).length > 1) {
    return { condition: undefined, reason: `the provider is not sure of ${likeExcept} in patterns for '${name}'` };
  }
  return { condition: undefined, reason: `the provider has no ${operatorOf(predicate)} for '${name}'` };
}

function pushAsIs(predicate: Predicate): Pushed | undefined {
  const exactness = predicate.field.filter?.[operatorOf(predicate)];
  if (exactness === undefined) return undefined;
  if (predicate.kind === 'like' && !takesPattern(predicate.field, predicate.pattern)) return undefined;
  return { condition: predicate, exactness };
}

function takesPattern(field: PushedField, { form, text }: LikePattern): boolean {
  return takesForm(field, form) && surePieces(field, text).length === 1;
}

/** What the characters leave of a text that the provider may take for something else. */
function surePieces({ likeExcept = '' }: PushedField, text: string): readonly string[] {
  const pieces = [''];
  for (const character of text) {
    if (likeExcept.includes(character)) pieces.push('');
    else pieces.push(`${pieces.pop()}${character}`);
  }
  return pieces;
}

function takesForm(field: PushedField, form: LikeForm): boolean {
  return field.likeForms?.includes(form) ?? true;
}

/** Longer lists go in pieces: OR of IN, AND of NOT IN. */
function pushChunks(predicate: Extract<Predicate, { kind: 'in' }>, size: number, queryable: Queryable): Push {
  const chunks: Condition[] = [];
  for (let start = 0; start < predicate.values.length; start += size) {
    chunks.push({ ...predicate, values: predicate.values.slice(start, start + size) });
  }
  return push({ kind: predicate.negated ? 'and' : 'or', operands: chunks }, queryable);
}

/**
 * A wider question for a condition whose lists the provider does not take: in place of each list its least and greatest value, or
 * whether there is any value. Undefined where there is no list, or nothing to ask in its place.
 */
export function widenLists(condition: Condition, queryable: Queryable): Condition | undefined {
  if (!isGroup<Condition>(condition)) return isList(condition) ? boundsOf(condition, queryable) : undefined;
  const wider = condition.operands.map((operand) => widenLists(operand, queryable));
  if (wider.every((operand) => operand === undefined)) return undefined;
  const operands = condition.operands.map((operand, index) => wider[index] ?? operand);
  return push({ kind: condition.kind, operands }, queryable).condition;
}

export type List = Extract<Predicate, { kind: 'in' }>;

/** One of several values. Its opposite, NOT IN, is a conjunction and no list in this sense. */
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
  const bounds = hasOrder(least) ? ends.flatMap((end) => push(end, queryable).condition ?? []) : [];
  return join('and', bounds) ?? pushAsIs({ kind: 'isNull', field, negated: true, loc })?.condition;
}

/** The order of texts is the provider's own. */
function hasOrder({ kind }: Value): boolean {
  return kind === 'number' || kind === 'date' || kind === 'datetime';
}

function compareLiterals(a: Value, b: Value): number {
  if (a.kind === 'number' && b.kind === 'number') return compareDecimals(a.text, b.text);
  if (a.kind === 'datetime' && b.kind === 'datetime') return a.epochMs - b.epochMs || a.nanos - b.nanos;
  if (a.kind === 'date' && b.kind === 'date') return a.text < b.text ? -1 : Number(a.text > b.text);
  return 0;
}

/** Other ways to say a predicate, tried in this order. Each keeps the meaning or widens it; none narrows. */
const REWRITES: readonly ((predicate: Predicate) => Push | undefined)[] = [
  listAsEqualities,
  equalityAsList,
  strictAsInclusive,
  equalityAsBounds,
  likeAsEquality,
  likeAsNullTest,
  likeAsWiderLike,
];

function listAsEqualities(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'in') return undefined;
  const { field, loc, negated } = predicate;
  const operator: ComparisonOperator = negated ? '!=' : '=';
  const exactness = field.filter?.[operator];
  if (exactness === undefined) return undefined;
  const equalities = predicate.values.map((value): Predicate => ({ kind: 'compare', field, operator, value, loc }));
  const condition = join(negated ? 'and' : 'or', equalities);
  return condition && { condition, exactness };
}

function equalityAsList(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'compare' || (predicate.operator !== '=' && predicate.operator !== '!=')) return undefined;
  const { field, loc, value } = predicate;
  return pushAsIs({ kind: 'in', field, negated: predicate.operator === '!=', values: [value], loc });
}

const INCLUSIVE: Readonly<Partial<Record<ComparisonOperator, ComparisonOperator>>> = { '<': '<=', '>': '>=' };

function strictAsInclusive(predicate: Predicate): Push | undefined {
  const operator = predicate.kind === 'compare' ? INCLUSIVE[predicate.operator] : undefined;
  if (predicate.kind !== 'compare' || operator === undefined) return undefined;
  const wider = pushAsIs({ ...predicate, operator });
  return wider && { ...wider, exactness: 'superset' };
}

function equalityAsBounds(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'compare' || predicate.operator !== '=') return undefined;
  const bounds = (['>=', '<='] as const).flatMap((operator) => pushAsIs({ ...predicate, operator })?.condition ?? []);
  const condition = join('and', bounds);
  return condition && { condition, exactness: 'superset' };
}

function likeAsEquality(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'like' || predicate.pattern.form !== 'literal') return undefined;
  const { field, loc, negated, pattern } = predicate;
  const value = { kind: 'string', value: pattern.text } as const;
  return pushAsIs({ kind: 'compare', field, operator: negated ? '!=' : '=', value, loc });
}

/** `LIKE '%'` is true for every text; what else a field may hold is checked again. */
function likeAsNullTest(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'like' || predicate.negated) return undefined;
  const { field, loc, pattern } = predicate;
  const isAnything = pattern.parts.length === 1 && pattern.parts[0]?.kind === 'any';
  const wider = isAnything ? pushAsIs({ kind: 'isNull', field, negated: true, loc }) : undefined;
  return wider && { ...wider, exactness: 'superset' };
}

/** `LIKE 'ab%x_y%'` → begins with `ab`, or contains the longest piece. NOT LIKE would narrow, so it stays. */
function likeAsWiderLike(predicate: Predicate): Push | undefined {
  if (predicate.kind !== 'like' || predicate.negated || predicate.field.filter?.LIKE === undefined) return undefined;
  const { field, pattern } = predicate;
  const wider = widerPatterns(field, pattern).find(({ form }) => takesForm(field, form));
  return wider && { condition: { ...predicate, pattern: wider }, exactness: 'superset' };
}

function widerPatterns(field: PushedField, { parts }: LikePattern): readonly LikePattern[] {
  const pieces = parts.map((part) => (part.kind === 'text' ? surePieces(field, part.text) : ['']));
  const longest = pieces.flat().reduce((best, text) => (text.length > best.length ? text : best), '');
  const candidates = [
    ['contains', longest],
    ['prefix', pieces.at(0)?.at(0) ?? ''],
    ['suffix', pieces.at(-1)?.at(-1) ?? ''],
  ] as const;
  return candidates.filter(([, text]) => text !== '').map(([form, text]) => likeOf(form, text));
}

function likeOf(form: 'contains' | 'prefix' | 'suffix', text: string): LikePattern {
  const any = { kind: 'any' } as const;
  const literal = { kind: 'text', text } as const;
  const parts = { contains: [any, literal, any], prefix: [literal, any], suffix: [any, literal] }[form];
  return { form, text, parts };
}
