import { canonicalDecimal } from './decimal.ts';
import { ExactNumber } from './exact-json.ts';

/**
 * The `format` of a field whose values may need more than a double. Each of them is answered as text, those that a double
 * holds too: one field has one JSON type on every row.
 */
export const DECIMAL_TEXT = 'decimal-text';

// A number in a record: a JavaScript number, an `ExactNumber`, or text that is one, as some providers write them.

/** Canonical text; undefined for what is not a number, and for numbers of more than 400 digits. */
export function readDecimal(value: unknown): string | undefined {
  const isNumeric =
    typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint' || value instanceof ExactNumber;
  return isNumeric ? canonicalDecimal(String(value)) : undefined;
}

/** A text that a double prints again. */
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/** As a number of JSON: an `ExactNumber` where a double would lose digits. What is no number stays as it is. */
export function toJsonNumber(value: unknown): unknown {
  if (typeof value === 'number' || value instanceof ExactNumber) return value;
  if (typeof value === 'string' && PLAIN_INTEGER.test(value)) return Number(value);
  const text = readDecimal(value);
  return text === undefined ? value : numberOf(text);
}

function numberOf(canonical: string): number | ExactNumber {
  const double = Number(canonical);
  return canonicalDecimal(String(double)) === canonical ? double : new ExactNumber(canonical);
}

/** As text without exponent and needless zeros. What is no number stays as it is. */
export function toDecimalText(value: unknown): unknown {
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  return readDecimal(value) ?? (value instanceof ExactNumber ? String(value) : value);
}
