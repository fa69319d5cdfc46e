import { canonicalDecimal } from './decimal.ts';
import { ExactNumber } from './exact-json.ts';

/**
 * The `format` of a field whose values may need more digits than a double has. All its values are returned as text, so a field has the same
 * JSON type on every row.
 */
export const DECIMAL_TEXT = 'decimal-text';

// A number in a record is a JavaScript number, an `ExactNumber`, or text that is a number, as some providers write it.

/** Returns a number as canonical decimal text. Undefined for a value that is no number, and for more than 400 digits. */
export function readDecimal(value: unknown): string | undefined {
  const isNumeric =
    typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint' || value instanceof ExactNumber;
  return isNumeric ? canonicalDecimal(String(value)) : undefined;
}

/** A decimal as most providers write it. */
const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A double holds every decimal of 15 digits. */
const MOST_PLAIN_CHARACTERS = 15;

/**
 * Returns a value as a number of JSON: an `ExactNumber` where a double would lose digits. A value that is no number is returned unchanged.
 */
export function toJsonNumber(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'bigint') return value;
  const isPlain = typeof value === 'string' && value.length <= MOST_PLAIN_CHARACTERS && PLAIN_DECIMAL.test(value);
  // The sum is 0 for `-0`.
  if (isPlain) return Number(value) + 0;
  const text = readDecimal(value);
  return text === undefined ? value : numberOf(text);
}

function numberOf(canonical: string): number | ExactNumber {
  const double = Number(canonical);
  return canonicalDecimal(String(double)) === canonical ? double : new ExactNumber(canonical);
}

/** Returns a number as decimal text without exponent and redundant zeros. A value that is no number is returned unchanged. */
export function toDecimalText(value: unknown): unknown {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  return readDecimal(value) ?? (value instanceof ExactNumber ? String(value) : value);
}
