import type { ComparisonOperator, Loc } from './ast.ts';
import { type Condition, operatorOf, type Predicate } from './condition.ts';
import type { Exactness, LikeForm, PushedField, Queryable, Value } from './model.ts';
import { readLiteral } from './values.ts';

/** A condition that the provider can be queried with in place of a part of a filter. It never matches fewer rows than the part. */
export interface Asked {
  readonly kind: 'asked';
  readonly condition: Condition;
  readonly exactness: Exactness;
}

/** Returns the predicate itself, where the field declares its operator and the translator has its construct. */
export function askAsIs(predicate: Predicate, { translator }: Queryable): Asked | undefined {
  const { field } = predicate;
  const exactness = field.filter?.[operatorOf(predicate)];
  if (exactness === undefined) return undefined;
  if (predicate.kind === 'in' && translator !== undefined && translator.in === undefined) return undefined;
  if (predicate.kind === 'like') {
    const { form, text } = predicate.pattern;
    if (!takesForm(field, form) || surePieces(field, text).length > 1) return undefined;
  }
  return { kind: 'asked', condition: predicate, exactness };
}

/** Returns a condition for every row that has a value: IS NOT NULL, or a bound at the smallest or greatest possible value. */
export function askNotNull(field: PushedField, loc: Loc, queryable: Queryable): Asked | undefined {
  const ends = endsOf(field).map(([operator, value]): Predicate => ({ kind: 'compare', field, operator, value, loc }));
  const ways: readonly Predicate[] = [{ kind: 'isNull', field, negated: true, loc }, ...ends];
  return bestOf(ways.map((way) => askAsIs(way, queryable)));
}

function endsOf(field: PushedField): readonly (readonly [ComparisonOperator, Value])[] {
  const { type, range: [least, most] = [], domain: { first = least, last = most } = {} } = field;
  if (type !== 'number' && type !== 'integer' && type !== 'date' && type !== 'datetime') return [];
  const ends = [
    ['>=', first],
    ['<=', last],
  ] as const;
  return ends.flatMap(([operator, text]) => {
    const value = text === undefined ? undefined : readLiteral({ kind: 'string', text, loc: NOWHERE }, type);
    return value === undefined ? [] : [[operator, value] as const];
  });
}

const NOWHERE: Loc = { offset: 0, length: 0 };

/** Returns the first condition that is exact, otherwise the first one. */
export function bestOf(ways: readonly (Asked | undefined)[]): Asked | undefined {
  const asked = ways.filter((way) => way !== undefined);
  return asked.find(({ exactness }) => exactness === 'exact') ?? asked[0];
}

/** Returns the same condition, marked as no more exact than that. */
export function atMost(exactness: Exactness, asked: Asked | undefined): Asked | undefined {
  return asked && exactness === 'superset' ? { ...asked, exactness } : asked;
}

/** Returns whether the provider supports patterns of this form for the field. */
export function takesForm(field: PushedField, form: LikeForm): boolean {
  return field.likeForms?.includes(form) ?? true;
}

/** Splits a text at the characters that the provider may misread (`likeExcept`). A text without them is one piece. */
export function surePieces({ likeExcept = '' }: PushedField, text: string): readonly string[] {
  const pieces = [''];
  for (const character of text) {
    if (likeExcept.includes(character)) pieces.push('');
    else pieces.push(`${pieces.pop()}${character}`);
  }
  return pieces;
}
