import { quoteText } from '../../src/where/print.ts';

/** The values of the controls above a list of deliveries, by their names in the query of the address. */
export interface Choices {
  readonly subscription?: string;
  readonly instance?: string;
  /** An event type. One that ends with `*` stands for all types with this beginning. */
  readonly type?: string;
  /** Start of the period in ISO 8601, inclusive. `to` is its end, exclusive. */
  readonly from?: string;
  readonly to?: string;
}

/** The condition for each control, in the order in which conditions are written. */
const WRITERS: readonly (readonly [name: keyof Choices, write: (value: string) => string])[] = [
  ['subscription', (value) => `subscriptionId = ${value}`],
  ['instance', (value) => `instance.id = ${value}`],
  ['type', writeType],
  ['from', (value) => `createdDate >= ${value}`],
  ['to', (value) => `createdDate < ${value}`],
];

export const CHOICE_NAMES: readonly (keyof Choices)[] = WRITERS.map(([name]) => name);

/** Returns the filter for the chosen values, empty if nothing is chosen. The service reports values that make no sense. */
export function writeWhere(choices: Choices): string {
  return WRITERS.flatMap(([name, write]) => {
    const value = choices[name];
    return value === undefined || value === '' ? [] : [write(value)];
  }).join(' AND ');
}

/** Adds the condition on the status to a filter. Returns undefined if neither narrows the list. */
export function withStatus(where: string, status: string | undefined): string | undefined {
  const parts = [status && `status = ${quoteText(status)}`, where && (status ? `(${where})` : where)].filter(Boolean);
  return parts.length === 0 ? undefined : parts.join(' AND ');
}

function writeType(value: string): string {
  if (!value.endsWith('*')) return `event.type = ${quoteText(value)}`;
  return `event.type LIKE ${quoteText(`${escapePattern(value.slice(0, -1))}%`)}`;
}

/** Escapes the characters that have a meaning in a pattern. */
function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
