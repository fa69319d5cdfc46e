import type { Knex } from 'knex';
import { arrayLiteral, binaryTexts, columnLiterals } from '../../db/array-literal.ts';
import { isDistributed, perAccount } from '../../db/distributed.ts';
import { runNamed } from '../../db/named-statement.ts';
import { insertOfAccount } from './account-insert.ts';
import type { NewRow, OtherDelivery, StoredColumns, StoredDelivery, StoredRow } from './new-row.ts';

export type { NewRow, OtherDelivery, StoredDelivery, StoredRow };

/** An event of which only its key is stored. */
interface KeyedEvent {
  readonly accountId: number;
  readonly eventId: string;
  readonly keyHash: Buffer | undefined;
}

export type AcceptStore = ReturnType<typeof createAcceptStore>;

export function createAcceptStore(knex: Knex) {
  return {
    transaction: <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => knex.transaction(work),

    /**
     * Inserts keys, events and deliveries by one statement, or by one transaction on a distributed database, so that all of them are
     * committed or none.
     * @returns the stored rows by event id, without rows whose key was seen before
     */
    insert: async (
      rows: readonly NewRow[],
      owner: string | undefined,
      now: Date,
    ): Promise<ReadonlyMap<string, StoredRow>> => {
      const keyed = rows.some(({ keyHash }) => keyHash !== undefined);
      const traced = rows.some(({ traceparent }) => traceparent !== undefined);
      const fanned = rows.some(({ others, unfiltered }) => others !== undefined || unfiltered === true);
      if (await isDistributed(knex)) {
        const ofAccounts = await perAccount(knex, rows, (via, ofOne) => insertOfAccount(via, ofOne, owner, now));
        return toStored(rows, ofAccounts.flat(), fanned);
      }
      const { rows: stored } = await runNamed<StoredColumns>(
        knex,
        INSERTS[fanned ? 'fanned' : 'single'][keyed ? 'keyed' : 'plain'][traced ? 'traced' : 'untraced'],
        [
          ...columnsOf(rows),
          ...(traced ? [arrayLiteral(rows.map(({ traceparent }) => traceparent))] : []),
          ...(keyed ? [arrayLiteral(rows.map(({ keyHash }) => keyHash && `\\x${keyHash.toString('hex')}`))] : []),
          ...(fanned ? targetsOf(rows) : []),
          owner ?? null,
          now,
        ],
      );
      return toStored(rows, stored, fanned);
    },

    /**
     * Stores the keys of events that nobody receives.
     * @returns the ids of the events whose keys are new, or that have none
     */
    insertKeys: async (events: readonly KeyedEvent[]): Promise<readonly string[]> => {
      const known = new Map<string, string>();
      const isNew = events.filter(({ keyHash }) => keyHash === undefined).map(({ eventId }) => eventId);
      for (const { accountId, eventId, keyHash } of events) {
        const key = keyHash && `${accountId}:${keyHash.toString('hex')}`;
        if (key !== undefined && !known.has(key)) known.set(key, eventId);
      }
      const keyed = events.filter(({ eventId }) => [...known.values()].includes(eventId));
      if (keyed.length === 0) return isNew;
      const stored = await perAccount(knex, keyed, async (via, ofOne) => {
        const { rows } = await runNamed<{ account_id: number; key: string }>(via, INSERT_KEYS, [
          arrayLiteral(ofOne.map(({ accountId }) => accountId)),
          arrayLiteral(ofOne.map(({ keyHash }) => keyHash && `\\x${keyHash.toString('hex')}`)),
        ]);
        return rows;
      });
      const rows = stored.flat();
      return [...isNew, ...rows.flatMap(({ account_id, key }) => known.get(`${account_id}:${key}`) ?? [])];
    },
  };
}

function columnsOf(rows: readonly NewRow[]): (string | Buffer)[] {
  return [
    ...columnLiterals(rows, ['accountId', 'eventId', 'createdAt', 'instanceId', 'type']),
    binaryTexts(rows.map(({ payload }) => payload)),
    ...columnLiterals(rows, ['record', 'subscriptionId', 'ordered', 'state']),
  ];
}

/** Returns the columns of all deliveries, those of an event behind each other. */
function targetsOf(rows: readonly NewRow[]): string[] {
  const targets = rows.flatMap((row) => [row, ...(row.others ?? [])].map((target) => ({ ...target, of: row.eventId })));
  return [
    ...columnLiterals(targets, ['of', 'subscriptionId', 'ordered']),
    arrayLiteral(targets.map(({ unfiltered = false }) => unfiltered)),
    arrayLiteral(targets.map(({ state }) => state)),
  ];
}

function toStored(
  rows: readonly NewRow[],
  stored: readonly StoredColumns[],
  fanned: boolean,
): ReadonlyMap<string, StoredRow> {
  if (fanned) return storedOf(rows, stored);
  return new Map(stored.map(({ event_id, id, state }) => [event_id, { deliveryId: id, state }]));
}

/** Returns the deliveries by event: that of the row itself, and beside it the others. */
function storedOf(rows: readonly NewRow[], stored: readonly StoredColumns[]): ReadonlyMap<string, StoredRow> {
  const byEvent = new Map<string, Map<number, StoredDelivery>>();
  for (const { event_id, id, state, subscription_id } of stored) {
    const known = byEvent.get(event_id) ?? new Map<number, StoredDelivery>();
    byEvent.set(event_id, known.set(subscription_id, { deliveryId: id, state }));
  }
  return new Map(
    rows.flatMap(({ eventId, subscriptionId }) => {
      const others = byEvent.get(eventId);
      const own = others?.get(subscriptionId);
      return own === undefined || others === undefined ? [] : [[eventId, { ...own, others }] as const];
    }),
  );
}

const COLUMNS =
  'account_id, event_id, created_at, instance_id, type, payload, record, subscription_id, ordered, wanted_state' as const;
const ARRAYS =
  '?::bigint[], ?::uuid[], ?::timestamptz[], ?::bigint[], ?::text[], ?::text[], ?::json[], ?::bigint[], ?::boolean[], ?::text[]';

interface Columns {
  readonly named: string;
  readonly given: string;
  /** The columns of an event in addition to those that every event has. */
  readonly ofEvent: string;
}

/** Without a trace, the statement has no columns for it. */
const COLUMNS_OF = {
  untraced: { named: COLUMNS, given: ARRAYS, ofEvent: '' },
  traced: { named: `${COLUMNS}, traceparent`, given: `${ARRAYS}, ?::text[]`, ofEvent: ', traceparent' },
} as const satisfies Record<string, Columns>;

/**
 * The statement itself reads the state of the subscription. It locks a deactivated one until the commit, so that a reactivation finds the
 * deliveries that are queued here. An active one is not locked: if it is deactivated at the same moment, the outcome of the delivery or the
 * sweep reads its state again.
 */
const insertRest = ({ ofEvent }: Columns, { targets, from, unfiltered }: Deliveries) => `
  stored_event as (
    insert into event (account_id, id, created_at, instance_id, type, payload, record${ofEvent})
    select account_id, event_id, created_at, instance_id, type, payload, record${ofEvent} from fresh
  ),${targets}
  asleep as materialized (
    select account_id, id from subscription
    where state <> 'active' and (account_id, id) in (select distinct account_id, subscription_id from ${from})
    order by account_id, id
    for share
  ),
  judged as (
    select f.*, case when a.id is null then f.wanted_state else 'queued' end as state
    from ${from} f left join asleep a on a.account_id = f.account_id and a.id = f.subscription_id
  )
  insert into delivery
    (account_id, subscription_id, event_id, event_at, instance_id, type, ordered,${unfiltered} state, owner, due)
  select account_id, subscription_id, event_id, created_at, instance_id, type, ordered,${unfiltered} state,
    case when state = 'delivering' then own.id end, case when state = 'waiting' then own.now end
  from judged, (select ?::uuid as id, ?::timestamptz as now) own
  order by ordinality
  returning event_id, subscription_id, id, state`;

interface Deliveries {
  /** The query of all deliveries, where events have several. */
  readonly targets: string;
  /** The rows that each are a delivery. */
  readonly from: 'fresh' | 'target';
  readonly unfiltered: string;
}

const DELIVERIES = {
  /** Each event has one delivery, and stands in the row of it. */
  single: { targets: '', from: 'fresh', unfiltered: '' },
  /** Events have several, which come apart from them, so that their bodies are sent to the database once. */
  fanned: {
    targets: `
  receiver as (
    select * from unnest(?::uuid[], ?::bigint[], ?::boolean[], ?::boolean[], ?::text[]) with ordinality
      as r(event_id, subscription_id, ordered, unfiltered, wanted_state, ordinality)
  ),
  target as (
    select f.account_id, f.event_id, f.created_at, f.instance_id, f.type,
      r.subscription_id, r.ordered, r.unfiltered, r.wanted_state, r.ordinality
    from fresh f join receiver r on r.event_id = f.event_id
  ),`,
    from: 'target',
    unfiltered: ' unfiltered,',
  },
} as const satisfies Record<string, Deliveries>;

// The statement is named, because parsing and planning take as long as everything else. It reads no table except subscriptions, by their
// key. Their number grows slowly, and each time PostgreSQL analyzes them it makes a new plan.
const insert = (columns: Columns, deliveries: Deliveries) => `
  with fresh as (select * from unnest(${columns.given}) with ordinality as i(${columns.named}, ordinality)),${insertRest(columns, deliveries)}`;

// Keys are locked in their order, so that two processes with the same keys cannot block each other.
const insertKeyed = (columns: Columns, deliveries: Deliveries) => `
  with input as (
    select * from unnest(${columns.given}, ?::bytea[]) with ordinality as i(${columns.named}, key_hash, ordinality)
  ),
  new_key as (
    insert into event_key (account_id, key_hash)
    select account_id, key_hash from input where key_hash is not null order by account_id, key_hash
    on conflict do nothing
    returning account_id, key_hash
  ),
  fresh as (
    select i.* from input i
    where i.key_hash is null
      or exists (select 1 from new_key k where k.account_id = i.account_id and k.key_hash = i.key_hash)
  ),${insertRest(columns, deliveries)}`;

const INSERT_KEYS = {
  name: 'accept-keys',
  sql: `insert into event_key (account_id, key_hash)
    select * from unnest(?::bigint[], ?::bytea[]) as k(account_id, key_hash) order by account_id, key_hash
    on conflict do nothing
    returning account_id, encode(key_hash, 'hex') as key`,
} as const;

const insertsOf = (name: string, deliveries: Deliveries) => ({
  plain: {
    untraced: { name: `accept-${name}events`, sql: insert(COLUMNS_OF.untraced, deliveries) },
    traced: { name: `accept-traced-${name}events`, sql: insert(COLUMNS_OF.traced, deliveries) },
  },
  keyed: {
    untraced: { name: `accept-keyed-${name}events`, sql: insertKeyed(COLUMNS_OF.untraced, deliveries) },
    traced: { name: `accept-traced-keyed-${name}events`, sql: insertKeyed(COLUMNS_OF.traced, deliveries) },
  },
});

const INSERTS = {
  single: insertsOf('', DELIVERIES.single),
  fanned: insertsOf('fanned-', DELIVERIES.fanned),
} as const;
