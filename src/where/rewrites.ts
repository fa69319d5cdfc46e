import { type Asked, askAsIs, surePieces, takesForm } from './ask.ts';
import type { ComparisonOperator } from './ast.ts';
import { join, type Predicate } from './condition.ts';
import type { LikePattern, PushedField, Queryable } from './model.ts';

/** Other forms of a predicate, tried in this order. Each matches the same rows or more, never fewer. */
export const REWRITES: readonly ((predicate: Predicate, queryable: Queryable) => Asked | undefined)[] = [
  listAsEqualities,
  equalityAsList,
  strictAsInclusive,
  equalityAsBounds,
  likeAsEquality,
  likeAsWiderLike,
];

function listAsEqualities(predicate: Predicate): Asked | undefined {
  if (predicate.kind !== 'in') return undefined;
  const { field, loc, negated } = predicate;
  const operator: ComparisonOperator = negated ? '!=' : '=';
  const exactness = field.filter?.[operator];
  if (exactness === undefined) return undefined;
  const equalities = predicate.values.map((value): Predicate => ({ kind: 'compare', field, operator, value, loc }));
  const condition = join(negated ? 'and' : 'or', equalities);
  return condition && { kind: 'asked', condition, exactness };
}

function equalityAsList(predicate: Predicate, queryable: Queryable): Asked | undefined {
  if (predicate.kind !== 'compare' || (predicate.operator !== '=' && predicate.operator !== '!=')) return undefined;
  const { field, loc, value } = predicate;
  return askAsIs({ kind: 'in', field, negated: predicate.operator === '!=', values: [value], loc }, queryable);
}

const INCLUSIVE: Readonly<Partial<Record<ComparisonOperator, ComparisonOperator>>> = { '<': '<=', '>': '>=' };

function strictAsInclusive(predicate: Predicate, queryable: Queryable): Asked | undefined {
  const operator = predicate.kind === 'compare' ? INCLUSIVE[predicate.operator] : undefined;
  if (predicate.kind !== 'compare' || operator === undefined) return undefined;
  const wider = askAsIs({ ...predicate, operator }, queryable);
  return wider && { ...wider, exactness: 'superset' };
}

function equalityAsBounds(predicate: Predicate, queryable: Queryable): Asked | undefined {
  if (predicate.kind !== 'compare' || predicate.operator !== '=') return undefined;
  const bounds = (['>=', '<='] as const).flatMap(
    (operator) => askAsIs({ ...predicate, operator }, queryable)?.condition ?? [],
  );
  const condition = join('and', bounds);
  return condition && { kind: 'asked', condition, exactness: 'superset' };
}

function likeAsEquality(predicate: Predicate, queryable: Queryable): Asked | undefined {
  if (predicate.kind !== 'like' || predicate.pattern.form !== 'literal') return undefined;
  const { field, loc, negated, pattern } = predicate;
  const value = { kind: 'string', value: pattern.text } as const;
  return askAsIs({ kind: 'compare', field, operator: negated ? '!=' : '=', value, loc }, queryable);
}

/** `LIKE 'ab%x_y%'` becomes "begins with `ab`" or "contains the longest piece". NOT LIKE would match fewer rows, so it stays. */
function likeAsWiderLike(predicate: Predicate): Asked | undefined {
  if (predicate.kind !== 'like' || predicate.negated || predicate.field.filter?.LIKE === undefined) return undefined;
  const { field, pattern } = predicate;
  const wider = widerPatterns(field, pattern).find(({ form }) => takesForm(field, form));
  return wider && { kind: 'asked', condition: { ...predicate, pattern: wider }, exactness: 'superset' };
}

function widerPatterns(field: PushedField, { parts }: LikePattern): readonly LikePattern[] {
  const anyForUnsure = withAnyCharacter(field, parts);
  const pieces = parts.map((part) => (part.kind === 'text' ? surePieces(field, part.text) : ['']));
  const longest = pieces.flat().reduce((best, text) => (text.length > best.length ? text : best), '');
  const candidates = [
    ['contains', longest],
    ['prefix', pieces.at(0)?.at(0) ?? ''],
    ['suffix', pieces.at(-1)?.at(-1) ?? ''],
  ] as const;
  const shorter = candidates.filter(([, text]) => text !== '').map(([form, text]) => likeOf(form, text));
  return anyForUnsure === undefined ? shorter : [anyForUnsure, ...shorter];
}

/** Returns the whole pattern with `_` in place of each character that the provider may misread. */
function withAnyCharacter(field: PushedField, parts: LikePattern['parts']): LikePattern | undefined {
  if (!parts.some((part) => part.kind === 'text' && surePieces(field, part.text).length > 1)) return undefined;
  const wider = parts.flatMap((part): LikePattern['parts'] => {
    if (part.kind !== 'text') return [part];
    const pieces = surePieces(field, part.text).map((text) => (text === '' ? [] : [{ kind: 'text', text } as const]));
    return pieces.flatMap((piece, index) => (index === 0 ? piece : [{ kind: 'one' } as const, ...piece]));
  });
  const text = wider.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  return { form: 'pattern', text, parts: wider };
}

function likeOf(form: 'contains' | 'prefix' | 'suffix', text: string): LikePattern {
  const any = { kind: 'any' } as const;
  const literal = { kind: 'text', text } as const;
  const parts = { contains: [any, literal, any], prefix: [literal, any], suffix: [any, literal] }[form];
  return { form, text, parts };
}
