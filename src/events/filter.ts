import { EXACT_IN_SQL, type FieldSpec, type SqlQueryable } from '../where/index.ts';

const text = { type: 'string', nullable: false, filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', nullable: false, filter: EXACT_IN_SQL } as const;
const instant = { type: 'datetime', nullable: false, filter: EXACT_IN_SQL } as const;

/** Times are shown to the millisecond; a filter means what is shown. */
export const shownInstant = (column: string): string => `date_trunc('milliseconds', ${column})`;

export const FILTERABLE_SUBSCRIPTION: SqlQueryable = {
  fields: { id: integer, url: text, 'config.url': text, state: text, createdDate: instant },
  columns: {
    id: 'id',
    url: 'url',
    'config.url': 'url',
    state: 'state',
    createdDate: shownInstant('created_at'),
  },
};

export const FILTERABLE_NOTIFICATION: SqlQueryable = {
  fields: { id: integer, type: text, createdDate: instant },
  columns: { id: 'id', type: 'type', createdDate: shownInstant('created_at') },
};

export const FILTERABLE_EVENT: SqlQueryable = {
  fields: { id: text, type: text, createdDate: instant },
  columns: {
    id: `'evt_' || replace(id::text, '-', '')`,
    type: 'type',
    createdDate: shownInstant('created_at'),
  },
};

/** What deliveries can be filtered by, under the names of their record. Their columns differ by where they are read from. */
export const DELIVERY_FIELDS = {
  id: integer,
  channel: text,
  status: text,
  'config.url': text,
  subscriptionId: integer,
  attempts: integer,
  'event.type': text,
  'event.id': text,
  'event.timestamp': { ...instant, nullable: true },
  'instance.id': { ...integer, nullable: true },
  createdDate: instant,
  updatedDate: instant,
  nextAttemptDate: { ...instant, nullable: true },
  lastError: { ...text, nullable: true },
} as const satisfies Readonly<Record<string, FieldSpec>>;

export type DeliveryField = keyof typeof DELIVERY_FIELDS;
