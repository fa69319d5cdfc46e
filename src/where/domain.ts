import { compareDecimals } from '../numbers/decimal.ts';
import { decimalsOfSignificant, decimalsOfTotal, moveOn, neighboursOn } from '../numbers/decimal-grid.ts';
import type { ComparisonOperator, Loc } from './ast.ts';
import { foldText } from './collation.ts';
import { operatorOf, type Predicate } from './condition.ts';
import { compareInstants, readDateTime, toDateTime } from './instant.ts';
import type { Domain, PushedField, Value } from './model.ts';

/**
 * The meaning of a predicate on a field that can hold only certain values. The logic is three-valued, so for a field that can be null,
 * `always` becomes "has a value".
 */
type Fitted =
  /** Equivalent predicates, the one that is nearest to the original first. */
  | { readonly kind: 'ways'; readonly ways: readonly [Predicate, ...Predicate[]] }
  /** No row matches. */
  | { readonly kind: 'never' }
  /** Every row that has a value matches. */
  | { readonly kind: 'valued' }
  /** The provider cannot be queried with it, and the result is not known. */
  | { readonly kind: 'unasked'; readonly reason: string };

type Kind<Name extends Predicate['kind']> = Extract<Predicate, { readonly kind: Name }>;

/** Returns the predicate with literals that the field can hold. */
export function fitPredicate(predicate: Predicate): Fitted {
  switch (predicate.kind) {
    case 'compare':
      return fitComparison(predicate);
    case 'in':
      return fitList(predicate);
    case 'like':
      return fitPattern(predicate);
    case 'isNull':
      return asItIs(predicate);
  }
}

/** Returns the values of a list that the field can hold. */
export function heldValues(field: PushedField, values: readonly Value[]): readonly Value[] {
  const held = values.flatMap((value) => {
    const position = gridPositionOf(field, value);
    return position.kind === 'held' ? [position.value] : [];
  });
  return field.domain?.closed === true ? distinctTexts(held) : held;
}

/** Removes duplicates that result when two spellings of a listed value become the same. */
function distinctTexts(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [value.kind === 'string' ? value.value : value, value])).values()];
}

const NEVER: Fitted = { kind: 'never' };
const VALUED: Fitted = { kind: 'valued' };

function asItIs(predicate: Predicate): Fitted {
  return { kind: 'ways', ways: [predicate] };
}

function fitComparison(predicate: Kind<'compare'>): Fitted {
  const { field, operator, value, loc } = predicate;
  if (operator === '=' || operator === '!=') {
    return fitList({ kind: 'in', field, values: [value], negated: operator === '!=', loc });
  }
  const position = gridPositionOf(field, value);
  if (position.kind === 'held') return { kind: 'ways', ways: [predicate, ...otherBound(predicate)] };
  if (position.kind === 'between') return betweenBounds(predicate, position);
  if (position.kind === 'apart') return unasked(predicate, 'its place in the order of the values is not known');
  return (position.kind === 'above all') === isUpperBound(operator) ? VALUED : NEVER;
}

function isUpperBound(operator: ComparisonOperator): boolean {
  return operator === '<' || operator === '<=';
}

/** `< 1.5` on whole numbers is `<= 1`, and also `< 2`. */
function betweenBounds(
  predicate: Kind<'compare'>,
  { below, above }: Extract<GridPosition, { kind: 'between' }>,
): Fitted {
  const [atBelow, atAbove] = isUpperBound(predicate.operator) ? (['<=', '<'] as const) : (['>', '>='] as const);
  const nearest: Predicate = { ...predicate, operator: atBelow, value: below };
  const other: readonly Predicate[] = above === undefined ? [] : [{ ...predicate, operator: atAbove, value: above }];
  return { kind: 'ways', ways: [nearest, ...other] };
}

/** The same bound from its other side: `> 5` on whole numbers is `>= 6`. */
const OTHER_SIDE: Readonly<Partial<Record<ComparisonOperator, readonly [ComparisonOperator, -1 | 1]>>> = {
  '<': ['<=', -1],
  '<=': ['<', 1],
  '>': ['>=', 1],
  '>=': ['>', -1],
};

function otherBound(predicate: Kind<'compare'>): readonly Predicate[] {
  const [operator, steps] = OTHER_SIDE[predicate.operator] ?? [];
  if (operator === undefined || steps === undefined) return [];
  const moved = stepFrom(predicate.field, predicate.value, steps);
  if (moved === undefined || gridPositionOf(predicate.field, moved).kind !== 'held') return [];
  return [{ ...predicate, operator, value: moved }];
}

function fitList(predicate: Kind<'in'>): Fitted {
  const { field, values, negated, loc } = predicate;
  const strange = values.find((value) => !isAskable(field, value));
  if (strange !== undefined) return unasked(predicate, 'it is not known how the provider reads such a text');
  const held = heldValues(field, values);
  const [only] = held;
  if (only === undefined) return negated ? VALUED : NEVER;
  if (field.domain?.closed === true && held.length === field.values?.length) return negated ? NEVER : VALUED;
  if (held.length > 1) return asItIs({ ...predicate, values: held });
  if (negated && only.kind === 'boolean') return otherBoolean(field, only, loc);
  return asItIs({ kind: 'compare', field, operator: negated ? '!=' : '=', value: only, loc });
}

/** `!= true` means false: a missing value does not match. */
function otherBoolean(field: PushedField, value: Of<'boolean'>, loc: Loc): Fitted {
  const other = { kind: 'boolean', value: !value.value } as const;
  const ways = [
    { kind: 'compare', field, operator: '=', value: other, loc },
    { kind: 'compare', field, operator: '!=', value, loc },
  ] as const;
  return { kind: 'ways', ways };
}

function fitPattern(predicate: Kind<'like'>): Fitted {
  const { field, pattern, negated } = predicate;
  const { form, text, parts } = pattern;
  const longest = field.domain?.text?.longest ?? Number.POSITIVE_INFINITY;
  const least = text.length + parts.filter(({ kind }) => kind === 'one').length;
  const literal = { kind: 'string', value: text } as const;
  if (form === 'literal' && !isAskable(field, literal)) {
    return unasked(predicate, 'it is not known how the provider reads such a text');
  }
  const isImpossible = least > longest || (form === 'literal' && gridPositionOf(field, literal).kind !== 'held');
  if (isImpossible) return negated ? VALUED : NEVER;
  // Every text is like '%', which says nothing of values that are no text.
  if (negated && parts.length === 1 && parts[0]?.kind === 'any') return NEVER;
  return asItIs(predicate);
}

function unasked(predicate: Predicate, why: string): Fitted {
  return { kind: 'unasked', reason: `'${predicate.field.name}' ${operatorOf(predicate)} cannot be pushed: ${why}` };
}

function isAskable({ domain }: PushedField, value: Value): boolean {
  return value.kind !== 'string' || (domain?.text?.askable?.(value.value) ?? true);
}

/** The position of a literal among the values of a field. */
type GridPosition =
  | { readonly kind: 'held'; readonly value: Value }
  /** Between two neighbouring values. `above` is absent where that value cannot be written. */
  | { readonly kind: 'between'; readonly below: Value; readonly above?: Value }
  | { readonly kind: 'below all' | 'above all' }
  /** Not a value of the field. For texts, it is not known which of them sort above it. */
  | { readonly kind: 'apart' };

/** Returns the position of a literal among the values of a field. */
export function gridPositionOf(field: PushedField, value: Value): GridPosition {
  switch (value.kind) {
    case 'string':
      return positionOfText(field, value);
    case 'number':
      return positionOfNumber(field, value);
    case 'date':
      return outside(value.text, field.domain?.first, field.domain?.last) ?? { kind: 'held', value };
    case 'datetime':
      return positionOfInstant(field, value);
    case 'boolean':
      return { kind: 'held', value };
  }
}

type Of<Name extends Value['kind']> = Extract<Value, { readonly kind: Name }>;

function positionOfText({ domain = {}, values = [], collation }: PushedField, value: Of<'string'>): GridPosition {
  if (domain.closed === true) {
    const folded = foldText(value.value, collation);
    const listed = values.find((each) => foldText(each, collation) === folded);
    return listed === undefined ? { kind: 'apart' } : { kind: 'held', value: { kind: 'string', value: listed } };
  }
  const { longest = Number.POSITIVE_INFINITY, nonEmpty, possible } = domain.text ?? {};
  const isHeld =
    value.value.length <= longest && !(nonEmpty === true && value.value === '') && (possible?.(value.value) ?? true);
  return isHeld ? { kind: 'held', value } : { kind: 'apart' };
}

function positionOfNumber({ range, domain }: PushedField, value: Of<'number'>): GridPosition {
  const digits = domain?.digits;
  const ranges = [...(range === undefined ? [] : [range]), ...rangesOfDigits(digits)];
  if (ranges.some(([least]) => compareDecimals(value.text, least) < 0)) return { kind: 'below all' };
  if (ranges.some(([, most]) => compareDecimals(value.text, most) > 0)) return { kind: 'above all' };
  if (digits === undefined) return { kind: 'held', value };
  const { below, above } = neighboursOn(value.text, decimalPlacesFor(digits, value.text));
  if (below === above) return { kind: 'held', value };
  return { kind: 'between', below: { kind: 'number', text: below }, above: { kind: 'number', text: above } };
}

type Digits = NonNullable<Domain['digits']>;

function rangesOfDigits(digits: Digits | undefined): readonly (readonly [string, string])[] {
  if (digits === undefined || !('total' in digits)) return [];
  const most = '9'.repeat(digits.total);
  return [[`-${most}`, most]];
}

function decimalPlacesFor(digits: Digits, text: string): number {
  if ('decimals' in digits) return digits.decimals;
  return 'significant' in digits
    ? decimalsOfSignificant(text, digits.significant)
    : decimalsOfTotal(text, digits.total);
}

function positionOfInstant({ domain = {} }: PushedField, value: Of<'datetime'>): GridPosition {
  const { first, last, step } = domain;
  const [start, end] = [first, last].map((text) => (text === undefined ? undefined : readDateTime(text)));
  if (start !== undefined && compareInstants(value, start) < 0) return { kind: 'below all' };
  if (end !== undefined && compareInstants(value, end) > 0) return { kind: 'above all' };
  if (step === undefined) return { kind: 'held', value };
  const below = toDateTime({ epochMs: Math.floor(value.epochMs / STEPS_MS[step]) * STEPS_MS[step], nanos: 0 });
  if (below === undefined || compareInstants(below, value) === 0) return { kind: 'held', value };
  const above = toDateTime({ epochMs: below.epochMs + STEPS_MS[step], nanos: 0 });
  return { kind: 'between', below, ...(above !== undefined && { above }) };
}

const STEPS_MS: Readonly<Record<NonNullable<Domain['step']>, number>> = {
  day: 86_400_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

function outside(text: string, first: string | undefined, last: string | undefined): GridPosition | undefined {
  if (first !== undefined && text < first) return { kind: 'below all' };
  return last !== undefined && text > last ? { kind: 'above all' } : undefined;
}

/** Returns the neighbour of a value. Undefined where the distance between values varies. */
function stepFrom({ domain = {} }: PushedField, value: Value, steps: -1 | 1): Value | undefined {
  const { digits, step } = domain;
  if (value.kind === 'number' && digits !== undefined && 'decimals' in digits) {
    return { kind: 'number', text: moveOn(value.text, digits.decimals, BigInt(steps)) };
  }
  if (step === undefined) return undefined;
  if (value.kind === 'datetime') return toDateTime({ epochMs: value.epochMs + steps * STEPS_MS[step], nanos: 0 });
  const moved = value.kind === 'date' ? readDateTime(value.text) : undefined;
  const day = moved && toDateTime({ epochMs: moved.epochMs + steps * STEPS_MS.day, nanos: 0 });
  return day && { kind: 'date', text: day.text.slice(0, 10) };
}

/**
 * Returns the bounds within which a row can show a number when the provider keeps only so many significant digits. The bounds are one step
 * wider on both sides than the neighbours of the literal.
 */
export function roundedBounds(text: string, digits: number): { readonly low: string; readonly high: string } {
  const decimals = decimalsOfSignificant(text, digits);
  const { below, above } = neighboursOn(text, decimals);
  return { low: moveOn(below, decimals, -1n), high: moveOn(above, decimals, 1n) };
}
