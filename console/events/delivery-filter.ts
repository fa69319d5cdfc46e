import { quoteText } from '../../src/where/print.ts';

/** The values of the controls above a list of deliveries, by their names in the query of the address. */
export interface Choices {
  readonly subscription?: string;
  readonly instance?: string;
  /** An event type; one that ends with `*` stands for all that begin so. */
  readonly type?: string;
  /** ISO 8601: the first moment, and the one behind the last. */
  readonly from?: string;
  readonly to?: string;
}

/** In the order in which they are written. */
const WRITERS: readonly (readonly [name: keyof Choices, write: (value: string) => string])[] = [
  ['subscription', (value) => `subscriptionId = ${value}`],
  ['instance', (value) => `instance.id = ${value}`],
  ['type', writeType],
  ['from', (value) => `createdDate >= ${value}`],
  ['to', (value) => `createdDate < ${value}`],
];

export const CHOICE_NAMES: readonly (keyof Choices)[] = WRITERS.map(([name]) => name);

/** Empty where nothing is chosen. What makes no sense is for the service to say. */
export function writeWhere(choices: Choices): string {
  return WRITERS.flatMap(([name, write]) => {
    const value = choices[name];
    return value === undefined || value === '' ? [] : [write(value)];
  }).join(' AND ');
}

/** Undefined where nothing is narrowed. */
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
