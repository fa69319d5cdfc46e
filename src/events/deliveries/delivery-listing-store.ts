import type { Knex } from 'knex';
import { columnsOf, type RowOf, type RowWith } from '../../db/row.ts';
import { type Condition, toSql } from '../../where/index.ts';
import type { EventRecord } from '../model.ts';
import {
  type Columns,
  countedSourcesOf,
  type DeliveryStatus,
  eventIdsOf,
  type Source,
  sourcesOf,
} from './delivery-sources.ts';

export interface DeliveryRow
  extends RowOf<
    'delivery',
    | 'id'
    | 'subscription_id'
    | 'attempts'
    | 'created_at'
    | 'updated_at'
    | 'last_error'
    | 'instance_id'
    | 'type'
    | 'event_id'
  > {
  readonly status: DeliveryStatus;
  readonly url: string;
  readonly nextAttemptAt: Date | null;
  /** Time with microseconds, which a Date would lose. It is part of the event's key. */
  readonly eventAt: string;
}

interface DeliverySelection {
  readonly condition?: Condition | undefined;
  /** Whether the newest deliveries come first. Default: the oldest. */
  readonly newestFirst?: boolean | undefined;
  /** Restricts the list to deliveries after this id, in the order of the list. */
  readonly afterId?: number | undefined;
}

/** Content of an event. A member is null if it was deleted or not requested. */
export interface EventContent {
  readonly payload: RowOf<'event', 'payload'>['payload'] | null;
  readonly record: EventRecord | null;
}

interface StatusCount {
  readonly status: DeliveryStatus;
  readonly count: number;
}

export interface AttemptRow extends Omit<RowWith<'delivery_attempt', typeof ATTEMPT_COLUMNS>, 'requestHeaders'> {
  readonly requestHeaders: Readonly<Record<string, string>> | null;
}

const ATTEMPT_COLUMNS = columnsOf('delivery_attempt', [
  'attempt',
  'attempted_at',
  'delivered',
  'duration_ms',
  'status_code',
  'error',
  'answer',
  'request_headers',
]);

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

/** Maximum count per status, because counting reads all rows. */
const MOST_COUNTED = 100_000;

export function createDeliveryListingStore(knex: Knex) {
  /**
   * Lists deliveries. Each source has a limit of its own, so the union has at most one page of each, and no source is sorted as a whole.
   */
  async function list(accountId: number, selection: DeliverySelection, limit: number): Promise<DeliveryRow[]> {
    const sources = sourcesOf(selection.condition);
    if (sources.length === 0) return [];
    const direction = selection.newestFirst === true ? 'desc' : 'asc';
    const { sql, bindings } = unionOf(sources, accountId, selection, ({ columns }) => ({
      select: selectOf(columns),
      end: { sql: `order by ${columns.id} ${direction} limit ?`, bindings: [limit] },
    }));
    const page = `select * from (${sql}) page order by id ${direction} limit ?`;
    const { rows } = await knex.raw<{ rows: DeliveryRow[] }>(page, [...bindings, limit]);
    return rows;
  }

  return {
    list,

    find: async (accountId: number, id: number): Promise<DeliveryRow | undefined> => {
      const { sql, bindings } = unionOf(sourcesOf(undefined), accountId, {}, ({ columns }) => ({
        select: selectOf(columns),
        end: { sql: `and ${columns.id} = ?`, bindings: [id] },
      }));
      const { rows } = await knex.raw<{ rows: DeliveryRow[] }>(sql, bindings);
      return rows[0];
    },

    /** Counts deliveries per status, each up to `MOST_COUNTED`. */
    count: async (accountId: number, condition: Condition | undefined, most = MOST_COUNTED): Promise<StatusCount[]> => {
      const sources = countedSourcesOf(condition);
      if (sources.length === 0) return [];
      const { sql, bindings } = unionOf(sources, accountId, { condition }, ({ columns }) => ({
        select: `${columns.status} as status`,
        end: { sql: 'limit ?', bindings: [most] },
      }));
      const { rows } = await knex.raw<{ rows: StatusCount[] }>(
        `select status, least(count(*), ?) as count from (${sql}) counted group by status`,
        [most, ...bindings],
      );
      return rows;
    },

    /** Returns the attempts of a delivery from the first to the last. */
    attempts: async (accountId: number, deliveryId: number): Promise<AttemptRow[]> =>
      knex('delivery_attempt')
        .where({ account_id: accountId, delivery_id: deliveryId })
        .orderBy(['attempt', 'attempted_at'])
        .select<AttemptRow[]>(ATTEMPT_COLUMNS),

    /**
     * Reads the stored contents of events in their order, null for one that is no longer kept. With bodies, the result ends before the
     * event that exceeds `maxBytes`. PostgreSQL knows the length of a long text without reading it.
     */
    contents: async (
      accountId: number,
      events: readonly Pick<DeliveryRow, 'eventId' | 'eventAt'>[],
      { hasPayloads, maxBytes }: { readonly hasPayloads: boolean; readonly maxBytes: number },
    ): Promise<readonly EventContent[]> => {
      const payload = hasPayloads ? 'e.payload' : 'null::text';
      const { rows } = await knex.raw<{ rows: EventContent[] }>(
        `select payload, record from (
           select w.position, ${payload} as payload, e.record,
             sum(coalesce(octet_length(${payload}), 0)) over (order by w.position) - coalesce(octet_length(${payload}), 0) as before
           from unnest(?::uuid[], ?::timestamptz[]) with ordinality as w (id, at, position)
             left join event e on e.account_id = ? and e.id = w.id and e.created_at = w.at
         ) sized where before < ? order by position`,
        [events.map(({ eventId }) => eventId), events.map(({ eventAt }) => eventAt), accountId, maxBytes],
      );
      return rows;
    },
  };
}

/** One select over the sources; `part` says what is read of each, and how it ends. */
function unionOf(
  sources: readonly Source[],
  accountId: number,
  { condition, newestFirst = false, afterId }: DeliverySelection,
  part: (source: Source) => { readonly select: string; readonly end: Statement },
): { readonly sql: string; readonly bindings: (number | string | string[])[] } {
  const eventIds = eventIdsOf(condition);
  const behind = newestFirst ? '<' : '>';
  const statements = sources.map((source): Statement => {
    const { select, end } = part(source);
    const wheres: Statement[] = [
      { sql: source.from, bindings: [accountId] },
      ...(afterId === undefined ? [] : [{ sql: `${source.columns.id} ${behind} ?`, bindings: [afterId] }]),
      ...(eventIds === undefined ? [] : [{ sql: `${source.columns.eventId} = any(?::uuid[])`, bindings: [eventIds] }]),
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
