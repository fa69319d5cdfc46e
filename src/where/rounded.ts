import { type Asked, askAsIs, askNotNull, atMost } from './ask.ts';
import type { ComparisonOperator } from './ast.ts';
import { join, operatorOf, type Predicate } from './condition.ts';
import { gridPositionOf, roundedBounds } from './domain.ts';
import type { PushedField, Queryable, Value } from './model.ts';

type Comparison = Extract<Predicate, { readonly kind: 'compare' }>;
/** A predicate that compares numbers. */
export type Rounded = Comparison | Extract<Predicate, { readonly kind: 'in' }>;

/** Returns a wider condition for a rounded number. A negation would leave out neighbours, so it requests every row with a value. */
export function askRounded(predicate: Rounded, queryable: Queryable): Asked | undefined {
  const { field, loc } = predicate;
  const isNegated = predicate.kind === 'in' ? predicate.negated : predicate.operator === '!=';
  if (isNegated) return isDeclared(predicate) ? atMost('superset', askNotNull(field, loc, queryable)) : undefined;
  if (predicate.kind === 'compare') return askAround(predicate, queryable);
  const equalities = predicate.values.map(
    (value): Comparison => ({ kind: 'compare', field, operator: '=', value, loc }),
  );
  const conditions = equalities.flatMap((each) => askAround(each, queryable)?.condition ?? []);
  const condition = conditions.length === equalities.length ? join('or', conditions) : undefined;
  return condition && { kind: 'asked', condition, exactness: 'superset' };
}

function isDeclared(predicate: Rounded): boolean {
  return predicate.field.filter?.[operatorOf(predicate)] !== undefined;
}

/** The bounds that each comparison needs. */
const SIDES: Readonly<Record<ComparisonOperator, readonly ('>=' | '<=')[]>> = {
  '=': ['>=', '<='],
  '!=': [],
  '<': ['<='],
  '<=': ['<='],
  '>': ['>='],
  '>=': ['>='],
};

function askAround({ field, operator, value, loc }: Comparison, queryable: Queryable): Asked | undefined {
  const bounds = SIDES[operator].flatMap((side): readonly Comparison[] => {
    const end = widerEnd(field, side, value);
    return end === undefined ? [] : [{ kind: 'compare', field, operator: side, value: end, loc }];
  });
  // Beyond the range of the field, any value matches.
  if (bounds.length === 0) return atMost('superset', askNotNull(field, loc, queryable));
  const condition = join(
    'and',
    bounds.flatMap((bound) => askAsIs(bound, queryable)?.condition ?? []),
  );
  return condition && { kind: 'asked', condition, exactness: 'superset' };
}

/** Returns the next lower or higher number of the kept digits, or its neighbour that can be written. */
function widerEnd(field: PushedField, side: '>=' | '<=', value: Value): Value | undefined {
  const digits = field.domain?.rounded;
  if (digits === undefined || value.kind !== 'number') return undefined;
  const { low, high } = roundedBounds(value.text, digits);
  const position = gridPositionOf(field, { kind: 'number', text: side === '>=' ? low : high });
  if (position.kind === 'between') return side === '>=' ? position.below : position.above;
  return position.kind === 'held' ? position.value : undefined;
}
