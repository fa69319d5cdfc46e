import type { ComparisonOperator, Loc } from './ast.ts';
import { type Condition, operatorOf, type Predicate } from './condition.ts';
import type { Exactness, LikeForm, PushedField, Queryable, Value } from './model.ts';
import { readLiteral } from './values.ts';

/** Something that the provider can be asked in place of a part of a filter: never less than it. */
export interface Asked {
  readonly kind: 'asked';
  readonly condition: Condition;
  readonly exactness: Exactness;
}

/** The predicate itself, where the field declares its operator and the translator has it. */
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

/** Every row that has a value: by IS NOT NULL, or by the least or the greatest value that there is. */
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

/** The first that is exact, or the first. */
export function bestOf(ways: readonly (Asked | undefined)[]): Asked | undefined {
  const asked = ways.filter((way) => way !== undefined);
  return asked.find(({ exactness }) => exactness === 'exact') ?? asked[0];
}

/** The same, but no more exact than that. */
export function atMost(exactness: Exactness, asked: Asked | undefined): Asked | undefined {
  return asked && exactness === 'superset' ? { ...asked, exactness } : asked;
}

/** Whether the provider accepts such patterns for a field. */
export function takesForm(field: PushedField, form: LikeForm): boolean {
  return field.likeForms?.includes(form) ?? true;
}

/** What the characters leave of a text that the provider may take for something else: one piece when there are none of them. */
export function surePieces({ likeExcept = '' }: PushedField, text: string): readonly string[] {
  const pieces = [''];
  for (const character of text) {
    if (likeExcept.includes(character)) pieces.push('');
    else pieces.push(`${pieces.pop()}${character}`);
  }
  return pieces;
}
