import type { Value } from '#connector';

/** A text in an encoded query: a caret ends a condition, two of them are one that is meant. */
export function escapeText(text: string): string {
  return text.replaceAll('^', '^^');
}

/** Dates are UTC (Table API reference). */
export function literalOf(value: Value): string {
  if (value.kind === 'string') return escapeText(value.value);
  if (value.kind === 'datetime') return instantOf(value.text);
  return value.kind === 'boolean' ? String(value.value) : value.text;
}

/** @param iso in UTC; what is less than a second is cut off */
export function instantOf(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/**
 * Whether it is known what ServiceNow takes a text for. It runs what begins with `javascript:`, in lists and ranges too; nothing
 * is said of blanks at the ends and of control characters.
 */
export function isAskable(text: string): boolean {
  return text === text.trim() && !/\p{Cc}/u.test(text) && !/javascript\s*:/i.test(text);
}

export function isSysId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}
