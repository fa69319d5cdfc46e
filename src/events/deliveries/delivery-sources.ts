import { type Condition, conjuncts, isGroup, type Value } from '../../where/index.ts';
import { parseEventId } from '../event-id.ts';
import { type DeliveryField, shownInstant } from '../filter.ts';

/** The API's name of the state of a delivery. */
const DELIVERY_STATUSES = ['queued', 'delivering', 'retrying', 'delivered'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** SQL expressions over the tables of a source, by the names of filter fields, and two further ones. */
export type Columns = Readonly<Record<DeliveryField | 'eventId' | 'eventAt', string>>;

/** A source of deliveries; `from` ends with the account's id as its only binding. */
export interface Source {
  readonly from: string;
  readonly columns: Columns;
}

const shownEventId = (column: string) => `'evt_' || replace(${column}::text, '-', '')`;

/** It stands at the beginning of the payload (accept/payload.ts), behind an id and a type that no quote leaves. */
const shownTimestamp = (table: string) =>
  `(select substring(left(e.payload, 2000) from '"timestamp":"([^"]+)"')::timestamptz from event e
    where e.account_id = ${table}.account_id and e.created_at = ${table}.event_at and e.id = ${table}.event_id)`;

const HOT: Omit<Columns, 'status'> = {
  id: 'd.id',
  channel: `'webhook'::text`,
  'config.url': 's.url',
  subscriptionId: 'd.subscription_id',
  attempts: 'd.attempts',
  'event.type': 'd.type',
  'event.id': shownEventId('d.event_id'),
  'event.timestamp': shownTimestamp('d'),
  'instance.id': 'd.instance_id',
  createdDate: shownInstant('d.created_at'),
  updatedDate: shownInstant('d.updated_at'),
  nextAttemptDate: shownInstant('d.due'),
  lastError: 'd.last_error',
  eventId: 'd.event_id',
  eventAt: 'd.event_at::text',
};

const HOT_FROM = `delivery d join subscription s on s.account_id = d.account_id and s.id = d.subscription_id
  where d.account_id = ?`;

const HOT_STATUS = `case when d.state = 'queued' then 'queued' when d.first_failed_at is null then 'delivering' else 'retrying' end`;

const hotSource = (status: DeliveryStatus, condition: string): Source => ({
  from: `${HOT_FROM} and ${condition}`,
  columns: { ...HOT, status: `'${status}'::text` },
});

/** Everything that is not delivered. */
const UNDELIVERED: Source = { from: HOT_FROM, columns: { ...HOT, status: HOT_STATUS } };

const BY_STATUS: Readonly<Record<DeliveryStatus, Source>> = {
  queued: hotSource('queued', `d.state = 'queued'`),
  delivering: hotSource('delivering', `d.state <> 'queued' and d.first_failed_at is null`),
  retrying: hotSource('retrying', `d.state <> 'queued' and d.first_failed_at is not null`),
  delivered: {
    from: `delivery_attempt a join subscription s on s.account_id = a.account_id and s.id = a.subscription_id
      where a.account_id = ? and a.delivered`,
    columns: {
      id: 'a.delivery_id',
      channel: `'webhook'::text`,
      status: `'delivered'::text`,
      'config.url': 's.url',
      subscriptionId: 'a.subscription_id',
      attempts: 'a.attempt',
      'event.type': 'a.type',
      'event.id': shownEventId('a.event_id'),
      'event.timestamp': shownTimestamp('a'),
      'instance.id': 'a.instance_id',
      createdDate: shownInstant('a.delivery_created_at'),
      updatedDate: 'a.attempted_at',
      nextAttemptDate: 'null::timestamptz',
      lastError: 'null::text',
      eventId: 'a.event_id',
      eventAt: 'a.event_at::text',
    },
  },
};

/** The sources for counting: each has an index of its own, so that counting can stop early. */
const COUNTED: Readonly<Record<DeliveryStatus, readonly Source[]>> = {
  queued: [BY_STATUS.queued],
  delivering: [
    hotSource('delivering', `d.state = 'waiting' and not d.is_retry`),
    hotSource('delivering', `d.state = 'delivering' and not d.is_retry`),
  ],
  retrying: [
    hotSource('retrying', `d.state = 'waiting' and d.is_retry`),
    hotSource('retrying', `d.state = 'delivering' and d.is_retry`),
  ],
  delivered: [BY_STATUS.delivered],
};

/**
 * Returns the sources that hold the deliveries a filter may select. Queued deliveries among many others are found by
 * their own index; without a filter on the status, one read in order is cheaper than one per status.
 */
export function sourcesOf(condition: Condition | undefined): readonly Source[] {
  const possible = possibleStatuses(condition);
  const undelivered = possible.filter((status) => status !== 'delivered');
  const delivered = possible.length > undelivered.length ? [BY_STATUS.delivered] : [];
  const all = DELIVERY_STATUSES.length - 1;
  return [
    ...(undelivered.length === all ? [UNDELIVERED] : undelivered.map((status) => BY_STATUS[status])),
    ...delivered,
  ];
}

export function countedSourcesOf(condition: Condition | undefined): readonly Source[] {
  return possibleStatuses(condition).flatMap((status) => COUNTED[status]);
}

/** Returns the ids of the events that a filter names, because an index finds their deliveries. Undefined if it names none. */
export function eventIdsOf(condition: Condition | undefined): string[] | undefined {
  const named = conjuncts(condition).map(namedEvents);
  return named.find((values) => values !== undefined)?.flatMap((value) => parseEventId(value) ?? []);
}

function namedEvents(condition: Condition): readonly string[] | undefined {
  if (isGroup<Condition>(condition) || condition.field.name !== 'event.id') return undefined;
  if (condition.kind === 'in' && !condition.negated) return condition.values.flatMap(textOf);
  return condition.kind === 'compare' && condition.operator === '=' ? textOf(condition.value) : undefined;
}

function textOf(value: Value): string[] {
  return value.kind === 'string' ? [value.value] : [];
}

function possibleStatuses(condition: Condition | undefined): readonly DeliveryStatus[] {
  return DELIVERY_STATUSES.filter((status) => conjuncts(condition).every((part) => mayHold(part, status)));
}

/** Whether the condition can be true for a delivery of the status; it need not see through everything. */
function mayHold(condition: Condition, status: DeliveryStatus): boolean {
  if (isGroup<Condition>(condition) || condition.field.name !== 'status') return true;
  const isStatus = (value: Value) => value.kind === 'string' && value.value === status;
  if (condition.kind === 'in') return condition.values.some(isStatus) !== condition.negated;
  if (condition.kind !== 'compare') return true;
  if (condition.operator === '=') return isStatus(condition.value);
  return condition.operator !== '!=' || !isStatus(condition.value);
}
