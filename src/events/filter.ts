import { FLAG, filterable, INSTANT, INTEGER, orNull, TEXT } from '../db/listing.ts';
import type { FieldSpec } from '../where/index.ts';

/** Returns the SQL of a time as the API shows it, to the millisecond. Filters use it, so that they match what callers see. */
export const shownInstant = (column: string): string => `date_trunc('milliseconds', ${column})`;

export const FILTERABLE_SUBSCRIPTION = filterable({
  id: [INTEGER, 'id'],
  url: [TEXT, 'url'],
  'config.url': [TEXT, 'url'],
  state: [TEXT, 'state'],
  name: [
    orNull(TEXT),
    '(select e.name from endpoint e where e.account_id = subscription.account_id and e.subscription_id = subscription.id)',
  ],
  endpoint: [FLAG, 'is_endpoint'],
  createdDate: [INSTANT, shownInstant('created_at')],
});

export const FILTERABLE_NOTIFICATION = filterable({
  id: [INTEGER, 'id'],
  type: [TEXT, 'type'],
  createdDate: [INSTANT, shownInstant('created_at')],
});

export const FILTERABLE_EVENT = filterable({
  id: [TEXT, "'evt_' || replace(id::text, '-', '')"],
  type: [TEXT, 'type'],
  createdDate: [INSTANT, shownInstant('created_at')],
});

/**
 * Fields that deliveries can be filtered by, under their names in the API. Their columns depend on the table they are
 * read from.
 */
export const DELIVERY_FIELDS = {
  id: INTEGER,
  channel: TEXT,
  status: TEXT,
  'config.url': TEXT,
  subscriptionId: INTEGER,
  attempts: INTEGER,
  'event.type': TEXT,
  'event.id': TEXT,
  'event.timestamp': orNull(INSTANT),
  'instance.id': orNull(INTEGER),
  createdDate: INSTANT,
  updatedDate: INSTANT,
  nextAttemptDate: orNull(INSTANT),
  lastError: orNull(TEXT),
} as const satisfies Readonly<Record<string, FieldSpec>>;

export type DeliveryField = keyof typeof DELIVERY_FIELDS;
