import type { Knex } from 'knex';
import { type Condition, conjuncts, isGroup, toSql, type Value } from '../where/index.ts';
import { type DeliveryField, shownInstant } from './filter.ts';

/** How the API names the state of a delivery. */
export const DELIVERY_STATUSES = ['queued', 'delivering', 'retrying', 'delivered'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryRow {
  readonly id: number;
  readonly status: DeliveryStatus;
  readonly url: string;
  readonly subscriptionId: number;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
  readonly instanceId: number | null;
  readonly type: string;
  readonly eventId: string;
  /** With the microseconds that a Date would lose: it is part of the event's key. */
  readonly eventAt: string;
}

export interface DeliverySelection {
  readonly condition?: Condition | undefined;
  /** Only ids above it: listings go from old to new. */
  readonly afterId?: number | undefined;
}

export interface AttemptRow {
  readonly attempt: number;
  readonly date: Date;
  readonly delivered: boolean;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly answer: string | null;
}

type Columns = Readonly<Record<DeliveryField | 'lastError' | 'eventId' | 'eventAt', string>>;

interface Source {
  readonly from: string;
  readonly columns: Columns;
}

const shownEventId = (column: string) => `'evt_' || replace(${column}::text, '-', '')`;

const HOT: Omit<Columns, 'status'> = {
  id: 'd.id',
  channel: `'webhook'::text`,
  'config.url': 's.url',
  subscriptionId: 'd.subscription_id',
  attempts: 'd.attempts',
  'event.type': 'd.type',
  'event.id': shownEventId('d.event_id'),
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

/**
 * Where the deliveries that a filter may select are. The few queued ones among many others are found by an index of their
 * own; without a filter of the status it is cheaper to read them all in their order than each status by itself.
 */
function sourcesOf(condition: Condition | undefined): readonly Source[] {
  const possible = DELIVERY_STATUSES.filter((status) => conjuncts(condition).every((part) => mayHold(part, status)));
  const undelivered = possible.filter((status) => status !== 'delivered');
  const delivered = possible.length > undelivered.length ? [BY_STATUS.delivered] : [];
  const all = DELIVERY_STATUSES.length - 1;
  return [...(undelivered.length === all ? [UNDELIVERED] : undelivered.map((status) => BY_STATUS[status])), ...delivered];
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

const SHOWN: Readonly<Record<keyof DeliveryRow, keyof Columns>> = {
  id: 'id',
  status: 'status',
  url: 'config.url',
  subscriptionId: 'subscriptionId',
  attempts: 'attempts',
  createdAt: 'createdDate',
  updatedAt: 'updatedDate',
  nextAttemptAt: 'nextAttemptDate',
  lastError: 'lastError',
  instanceId: 'instance.id',
  type: 'event.type',
  eventId: 'eventId',
  eventAt: 'eventAt',
};

function selectOf(columns: Columns): string {
  return Object.entries(SHOWN)
    .map(([name, column]) => `${columns[column]} as "${name}"`)
    .join(', ');
}

interface Statement {
  readonly sql: string;
  readonly bindings: readonly (number | string | string[])[];
}

export type DeliveryListingStore = ReturnType<typeof createDeliveryListingStore>;

export function createDeliveryListingStore(knex: Knex) {
  /** Each source is limited by itself, so that none is sorted as a whole: the union has a page of each at most. */
  async function list(accountId: number, selection: DeliverySelection, limit: number): Promise<DeliveryRow[]> {
    if (sourcesOf(selection.condition).length === 0) return [];
    const { sql, bindings } = unionOf(accountId, selection, ({ columns }) => ({
      select: selectOf(columns),
      end: { sql: `order by ${columns.id} limit ?`, bindings: [limit] },
    }));
    const { rows } = await knex.raw(`select * from (${sql}) page order by id limit ?`, [...bindings, limit]);
    return rows;
  }

  return {
    list,

    find: async (accountId: number, id: number): Promise<DeliveryRow | undefined> => {
      const { sql, bindings } = unionOf(accountId, {}, ({ columns }) => ({
        select: selectOf(columns),
        end: { sql: `and ${columns.id} = ?`, bindings: [id] },
      }));
      const { rows } = await knex.raw(sql, bindings);
      return rows[0];
    },

    count: async (
      accountId: number,
      selection: DeliverySelection,
    ): Promise<{ readonly status: DeliveryStatus; readonly count: number }[]> => {
      if (sourcesOf(selection.condition).length === 0) return [];
      const { sql, bindings } = unionOf(accountId, selection, ({ columns }) => ({
        select: `${columns.status} as status, count(*) as count`,
        end: { sql: 'group by 1', bindings: [] },
      }));
      const { rows } = await knex.raw(sql, bindings);
      return rows;
    },

    /** From the first to the last. */
    attempts: async (accountId: number, deliveryId: number): Promise<AttemptRow[]> =>
      knex('delivery_attempt')
        .where({ account_id: accountId, delivery_id: deliveryId })
        .orderBy(['attempt', 'attempted_at'])
        .select({
          attempt: 'attempt',
          date: 'attempted_at',
          delivered: 'delivered',
          durationMs: 'duration_ms',
          statusCode: 'status_code',
          error: 'error',
          answer: 'answer',
        }),

    /**
     * The bodies of these events in their order, null for one that is no longer kept; the answer ends before the one
     * that follows on `maxBytes`. Of a long text PostgreSQL knows the length without reading it.
     */
    payloads: async (
      accountId: number,
      events: readonly Pick<DeliveryRow, 'eventId' | 'eventAt'>[],
      maxBytes: number,
    ): Promise<readonly (string | null)[]> => {
      const { rows } = await knex.raw(
        `select payload from (
           select w.position, e.payload,
             sum(coalesce(octet_length(e.payload), 0)) over (order by w.position) - coalesce(octet_length(e.payload), 0) as before
           from unnest(?::uuid[], ?::timestamptz[]) with ordinality as w (id, at, position)
             left join event e on e.account_id = ? and e.id = w.id and e.created_at = w.at
         ) sized where before < ? order by position`,
        [events.map(({ eventId }) => eventId), events.map(({ eventAt }) => eventAt), accountId, maxBytes],
      );
      return rows.map(({ payload }: { readonly payload: string | null }) => payload);
    },
  };
}

/** One select over all sources; `part` says what is read of each, and how it ends. */
function unionOf(
  accountId: number,
  { condition, afterId }: DeliverySelection,
  part: (source: Source) => { readonly select: string; readonly end: Statement },
): { readonly sql: string; readonly bindings: (number | string | string[])[] } {
  const statements = sourcesOf(condition).map((source): Statement => {
    const { select, end } = part(source);
    const wheres: Statement[] = [
      { sql: source.from, bindings: [accountId] },
      ...(afterId === undefined ? [] : [{ sql: `${source.columns.id} > ?`, bindings: [afterId] }]),
      ...(condition === undefined ? [] : [toSql(condition, source.columns)]),
    ];
    return {
      sql: `(select ${select} from ${wheres.map(({ sql }) => sql).join(' and ')} ${end.sql})`,
      bindings: [...wheres.flatMap(({ bindings }) => bindings), ...end.bindings],
    };
  });
  return {
    sql: statements.map(({ sql }) => sql).join(' union all '),
    bindings: statements.flatMap(({ bindings }) => bindings),
  };
}
