import type { Value } from '#connector';

/** Escapes a text for an encoded query. A caret ends a condition, and two carets are a literal one. */
export function escapeText(text: string): string {
  return text.replaceAll('^', '^^');
}

/** Prints a value for an encoded query. Times are UTC (Table API reference). */
export function literalOf(value: Value): string {
  if (value.kind === 'string') return escapeText(value.value);
  if (value.kind === 'datetime') return instantOf(value.text);
  return value.kind === 'boolean' ? String(value.value) : value.text;
}

/**
 * Prints a time for an encoded query.
 * @param iso a time in UTC; fractions of a second are cut off
 */
export function instantOf(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/**
 * Returns whether ServiceNow's reading of a text is known. It executes texts that begin with `javascript:`, also in lists and ranges. It
 * does not document blanks at the ends and control characters.
 */
export function isAskable(text: string): boolean {
  return text === text.trim() && !/\p{Cc}/u.test(text) && !/javascript\s*:/i.test(text);
}

export function isSysId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
