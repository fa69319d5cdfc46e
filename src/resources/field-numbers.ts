import { canonicalDecimal, compareDecimals } from '../numbers/decimal.ts';
import { ExactNumber } from '../numbers/exact-json.ts';
import { DECIMAL_TEXT, readDecimal, toDecimalText, toJsonNumber } from '../numbers/number-value.ts';
import type { FieldSpec } from '../where/index.ts';

type NumberField = Pick<FieldSpec, 'type' | 'format' | 'range'>;

/**
 * A provider may write a number as text in one row and as a number in the next. Ours has the JSON type that its field declares.
 * @returns undefined for fields that hold neither
 */
export function numberReader({ type, format }: NumberField): ((value: unknown) => unknown) | undefined {
  if (type === 'string') return toText;
  if (type !== 'integer' && type !== 'number') return undefined;
  return format === DECIMAL_TEXT ? toDecimalText : toJsonNumber;
}

function toText(value: unknown): unknown {
  return typeof value === 'number' || value instanceof ExactNumber ? String(value) : value;
}

/** What is wrong with a value of a field, to follow its name in a message; undefined for what it may be, and what is no number. */
export function faultOfNumber(field: NumberField, value: unknown): string | undefined {
  if (field.type !== 'integer' && field.type !== 'number') return undefined;
  const text = readDecimal(value);
  if (text === undefined) return value instanceof ExactNumber ? 'is a number of more than 400 digits.' : undefined;
  if (field.type === 'integer' && text.includes('.')) return 'is of type integer: expected a whole number.';
  const { range = field.format === DECIMAL_TEXT ? undefined : DOUBLES } = field;
  if (range !== undefined && (compareDecimals(text, range[0]) < 0 || compareDecimals(text, range[1]) > 0))
    return `must be from ${showBound(range[0])} to ${showBound(range[1])}.`;
  if (field.format !== DECIMAL_TEXT && Number(text) === 0 && text !== '0')
    return `must be 0, or at least ${Number.MIN_VALUE} away from it.`;
  return undefined;
}

const GREATEST_DOUBLE = canonicalDecimal(String(Number.MAX_VALUE)) ?? '';
/** What a number of JSON is for nearly everybody who reads it. */
const DOUBLES: readonly [string, string] = [`-${GREATEST_DOUBLE}`, GREATEST_DOUBLE];

/** 309 digits are written with an exponent. */
function showBound(decimal: string): string {
  return decimal.length > 30 ? String(Number(decimal)) : decimal;
}
