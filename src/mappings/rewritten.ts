import { toJsonNumber } from '../numbers/number-value.ts';
import {
  type Condition,
  compileCondition,
  type FieldType,
  joinConditions,
  operatorOf,
  type Predicate,
  type PushedField,
  type Rewritten,
  type ScalarType,
  type Value,
} from '../where/index.ts';

export const NEVER: Rewritten = { kind: 'never' };

export const ALWAYS: Rewritten = { kind: 'always' };

export function local(reason: string): Rewritten {
  return { kind: 'local', reason };
}

export function rewritten(condition: Condition, isWider = false): Rewritten {
  return { kind: 'rewritten', condition, isWider };
}

interface Membership {
  readonly negated: boolean;
  readonly loc: Predicate['loc'];
  readonly isWider?: boolean;
}

/** Returns the condition that the provider's value is one of these, or none of them. */
export function oneOf(
  field: PushedField,
  values: readonly Value[],
  { negated, loc, isWider = false }: Membership,
): Rewritten {
  if (values.length > 0) return rewritten({ kind: 'in', field, negated, values, loc }, isWider);
  return negated ? rewritten({ kind: 'isNull', field, negated: true, loc }, isWider) : NEVER;
}

export function textLiteral(text: string) {
  return { kind: 'string', text, loc: { offset: 0, length: 0 } } as const;
}

export function textOf(value: Value): string {
  return value.kind === 'string' ? value.value : value.kind === 'boolean' ? String(value.value) : value.text;
}

/** Returns the literals of an equality or of a list of texts. Undefined for any other predicate. */
export function textsOf(
  predicate: Predicate,
): { readonly values: readonly string[]; readonly negated: boolean } | undefined {
  const operator = operatorOf(predicate);
  if (predicate.kind === 'in') {
    return { values: predicate.values.map(textOf), negated: predicate.negated };
  }
  if (predicate.kind !== 'compare' || (operator !== '=' && operator !== '!=')) return undefined;
  return { values: [textOf(predicate.value)], negated: operator === '!=' };
}

export function plain(value: Value): unknown {
  if (value.kind === 'number') return toJsonNumber(value.text);
  return value.kind === 'string' || value.kind === 'boolean' ? value.value : value.text;
}

export function isScalar(type: FieldType): type is ScalarType {
  return type !== 'object' && type !== 'array';
}

/** Returns a test of single values by a predicate. */
export function testOf(predicate: Predicate): (value: unknown) => boolean {
  const name = 'value';
  const test = compileCondition({ ...predicate, field: { ...predicate.field, name } });
  return (value) => test({ [name]: value });
}

/** Joins rewritten predicates by OR. */
export function eitherOf(parts: readonly Rewritten[], isWider = false): Rewritten {
  const missing = parts.find(({ kind }) => kind === 'local');
  if (missing !== undefined) return missing;
  if (parts.some(({ kind }) => kind === 'always')) return isWider ? local('every value may match') : ALWAYS;
  const asked = parts.filter((part) => part.kind === 'rewritten');
  const condition = joinConditions(
    'or',
    asked.map((part) => part.condition),
  );
  return condition === undefined ? NEVER : rewritten(condition, isWider || asked.some((part) => part.isWider));
}

export const INSIDE = 'the path of the mapping leads into the values of a field';
