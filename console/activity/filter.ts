import { quoteText } from '../../src/where/print.ts';
import type { Schemas } from '../api.ts';

/** The filter as the query of the address has it: values by the names of the controls. */
export type ActivityFilter = Readonly<Record<string, string | undefined>>;

export const STATUSES = {
  '2xx': 'status >= 200 AND status < 300',
  '3xx': 'status >= 300 AND status < 400',
  '4xx': 'status >= 400 AND status < 500',
  '5xx': 'status >= 500',
} as const satisfies Readonly<Record<string, string>>;

const MINUTE_MS = 60_000;
export const PERIODS: ReadonlyMap<string, { readonly title: string; readonly ms: number }> = new Map(
  Object.entries({
    '15m': { title: 'last 15 minutes', ms: 15 * MINUTE_MS },
    '1h': { title: 'last hour', ms: 60 * MINUTE_MS },
    '1d': { title: 'last day', ms: 24 * 60 * MINUTE_MS },
    '7d': { title: 'last week', ms: 7 * 24 * 60 * MINUTE_MS },
  }),
);

/** The condition that each control adds to the filter. An invalid value adds nothing. */
const CONDITIONS: Readonly<Record<string, (value: string, nowMs: number) => string | undefined>> = {
  instance: (value) => (/^\d+$/.test(value) ? `instanceId = ${value}` : undefined),
  element: (value) => `elementKey = ${quoteText(value)}`,
  calls: () => 'instanceId IS NOT NULL',
  failures: () => 'status >= 400',
  // The kind is no part of the filter. It is a parameter of its own.
  kind: () => undefined,
  status: (value) => Object.entries(STATUSES).find(([name]) => name === value)?.[1],
  code: (value) => `code = ${quoteText(value)}`,
  path: (value) => `path LIKE ${quoteText(`%${value.replaceAll(/[\\%_]/g, '\\$&')}%`)}`,
  since: (value, nowMs) => {
    const period = PERIODS.get(value);
    return period && `timestamp >= ${new Date(nowMs - period.ms).toISOString()}`;
  },
};

export const CONTROLS = Object.keys(CONDITIONS);

/**
 * Returns the filter in the query language: the text that the user wrote, or the filter that the controls make. Undefined where every
 * request is shown.
 */
export function whereOf(filter: ActivityFilter, nowMs: number): string | undefined {
  if (filter.where) return filter.where;
  const conditions = Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const value = filter[name];
    return (value && condition(value, nowMs)) || [];
  });
  return conditions.length === 0 ? undefined : conditions.join(' AND ');
}

/** The kinds of entries in the activity: requests of callers, and work in the background. */
export const KINDS = {
  request: 'requests',
  poll: 'polls',
  bulk: 'bulk jobs',
  schema: 'checks of watched objects',
  all: 'everything',
} as const satisfies Readonly<Record<Schemas['ActivityKind'], string>>;

export function kindOf({ kind = 'all' }: ActivityFilter): Schemas['ActivityKind'] {
  return isKind(kind) ? kind : 'all';
}

function isKind(kind: string): kind is Schemas['ActivityKind'] {
  return Object.hasOwn(KINDS, kind);
}
