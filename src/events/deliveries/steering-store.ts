import type { Knex } from 'knex';
import { isDistributed } from '../../db/distributed.ts';
import { firstOf, type RowOf } from '../../db/row.ts';

/** Part of an account's queue that an operation applies to; the whole queue unless narrowed. */
export interface QueueTarget {
  readonly urls?: readonly string[] | undefined;
  readonly subscriptionId?: number | undefined;
}

export interface QueuePart extends RowOf<'delivery', 'subscription_id'> {
  /** Id of the newest queued delivery of the subscription. */
  readonly newestId: number;
}

export interface ReleasedBatch {
  readonly count: number;
  /** Id of the last released delivery; null if there was none. */
  readonly lastId: number | null;
}

export function createReleaseStore(knex: Knex) {
  return {
    /** Returns the subscriptions that have queued deliveries. */
    findQueued: async (accountId: number, { urls, subscriptionId }: QueueTarget): Promise<QueuePart[]> => {
      const { rows } = await knex.raw<{ rows: QueuePart[] }>(
        `select d.subscription_id as "subscriptionId", max(d.id) as "newestId" from delivery d
         where d.account_id = :accountId and d.state = 'queued'
           and (cast(:subscriptionId as bigint) is null or d.subscription_id = :subscriptionId)
           and (cast(:urls as text[]) is null or d.subscription_id in
             (select s.id from subscription s where s.account_id = :accountId and s.url = any(cast(:urls as text[]))))
         group by d.subscription_id order by d.subscription_id`,
        { accountId, subscriptionId: subscriptionId ?? null, urls: urls === undefined ? null : [...urls] },
      );
      return rows;
    },

    /** Releases the oldest queued deliveries after `afterId`, at most `limit`, with a fresh schedule. */
    release: async (
      accountId: number,
      { subscriptionId, newestId }: QueuePart,
      { afterId, limit, now }: { readonly afterId: number; readonly limit: number; readonly now: Date },
    ): Promise<ReleasedBatch> => {
      const { rows } = await knex.raw<{ rows: ReleasedBatch[] }>(
        `with chosen as materialized (
           select account_id, id from delivery
           where account_id = :accountId and subscription_id = :subscriptionId and state = 'queued'
             and id > :afterId and id <= :newestId
           order by id limit :limit for update
         ), released as (
           update delivery d set state = 'waiting', due = :now, retries = 0, first_failed_at = null, updated_at = now()
           from chosen c where d.account_id = :accountId and d.id = c.id
           returning d.id
         )
         select count(*) as count, max(id) as "lastId" from released`,
        { accountId, subscriptionId, newestId, afterId, limit, now },
      );
      return firstOf(rows);
    },

    /**
     * Deletes the oldest queued deliveries, at most `limit`.
     * @param isRemoved whether only if the subscription is removed, and not in use again
     * @returns the number of deleted deliveries
     */
    acknowledge: async (
      accountId: number,
      { subscriptionId, newestId }: QueuePart,
      { limit, isRemoved }: { readonly limit: number; readonly isRemoved: boolean },
    ): Promise<number> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `with chosen as materialized (
           select account_id, id from delivery
           where account_id = :accountId and subscription_id = :subscriptionId and state = 'queued' and id <= :newestId
             ${isRemoved ? `and ${IS_REMOVED}` : ''}
           order by id limit :limit for update
         )
         delete from delivery d using chosen c where d.account_id = :accountId and d.id = c.id`,
        { accountId, subscriptionId, newestId, limit },
      );
      return rowCount;
    },

    /** Deletes a queued delivery. Returns false if it does not exist or is not queued. */
    acknowledgeOne: async (accountId: number, id: number): Promise<boolean> =>
      (await knex('delivery').where({ account_id: accountId, id, state: 'queued' }).delete()) > 0,
  };
}

const IS_REMOVED = `exists (
  select from subscription where account_id = :accountId and id = :subscriptionId and deleted_at is not null for share)`;

export interface RedeliveryPeriod {
  /** Start of the range of creation times, inclusive; `to` is exclusive. */
  readonly from: Date;
  readonly to: Date;
  readonly subscriptionId?: number | undefined;
  /** Status of the deliveries. Default: all. */
  readonly status?: 'queued' | 'delivering' | 'retrying' | 'delivered' | undefined;
}

/** Nothing is sent to a removed endpoint again, and nobody could release it. A callback URL can be used again. */
const IS_THERE = `not (s.is_endpoint and s.deleted_at is not null)`;

/** The state of a delivery that is made by hand: pushed, whatever the policy, unless nothing may be pushed there. */
const STATE = `case s.state when 'active' then 'waiting' else 'queued' end`;
const DUE = `case s.state when 'active' then cast(:now as timestamptz) end`;

const INSERT = `insert into delivery (account_id, subscription_id, event_id, event_at, instance_id, type, unfiltered, state, due)`;

const HOT_STATUS = `(cast(:status as text) is null or :status = case
  when state = 'queued' then 'queued' when first_failed_at is null then 'delivering' else 'retrying' end)`;

const ONE = `with original as (
    select subscription_id, event_id, event_at, instance_id, type, unfiltered from delivery where account_id = :accountId and id = :id
    union all
    select subscription_id, event_id, event_at, instance_id, type, unfiltered from delivery_attempt
      where account_id = :accountId and delivery_id = :id and delivered
  ), target as (
    select o.*, s.account_id, s.state from (select * from original limit 1) o
      join event e on e.account_id = :accountId and e.id = o.event_id and e.created_at = o.event_at
      join subscription s on s.account_id = :accountId and s.id = o.subscription_id and ${IS_THERE}
    for share of s
  )`;

const PERIOD = `with original as (
    select id, subscription_id, event_id, event_at, instance_id, type, unfiltered from delivery
      where account_id = :accountId and created_at >= :from and created_at < :to and ${HOT_STATUS}
        and (cast(:subscriptionId as bigint) is null or subscription_id = :subscriptionId)
    union all
    select delivery_id, subscription_id, event_id, event_at, instance_id, type, unfiltered from delivery_attempt
      where account_id = :accountId and delivered and attempted_at >= :from
        and delivery_created_at >= :from and delivery_created_at < :to
        and coalesce(cast(:status as text), 'delivered') = 'delivered'
        and (cast(:subscriptionId as bigint) is null or subscription_id = :subscriptionId)
  ), chosen as materialized (
    select min(o.id) as id, o.subscription_id, o.event_id, o.event_at, o.instance_id, o.type,
      bool_or(o.unfiltered) as unfiltered
    from original o
      join event e on e.account_id = :accountId and e.id = o.event_id and e.created_at = o.event_at
      join subscription s on s.account_id = :accountId and s.id = o.subscription_id and ${IS_THERE}
    group by o.subscription_id, o.event_id, o.event_at, o.instance_id, o.type
    limit :limit + 1
  ), target as materialized (
    select account_id, id, state from subscription
    where account_id = :accountId and id in (select subscription_id from chosen)
    order by id for share
  )`;

/**
 * Creates the store of redeliveries. It locks the subscription briefly against a change of its state, because a delivery that is queued
 * just after its subscription was released would stay there.
 */
export function createRedeliveryStore(knex: Knex) {
  return {
    /**
     * Creates a new delivery of an event.
     * @returns its id; undefined if there is no such delivery, its event is no longer kept, or its endpoint was removed
     */
    redeliver: async (accountId: number, id: number, now: Date): Promise<number | undefined> => {
      if (await isDistributed(knex)) return redeliverOnNode(knex, { accountId, id, now });
      const { rows } = await knex.raw<{ rows: RowOf<'delivery', 'id'>[] }>(
        `${ONE}
         ${INSERT}
         select account_id, subscription_id, event_id, event_at, instance_id, type, unfiltered, ${STATE}, ${DUE} from target s
         returning id`,
        { accountId, id, now },
      );
      return rows[0]?.id;
    },

    /**
     * Creates a delivery for each event of the period and each subscription, in the order of the first deliveries. It creates none if there
     * are more than `limit`.
     * @returns the number of deliveries; `limit` + 1 if there are more
     */
    redeliverPeriod: async (
      accountId: number,
      period: RedeliveryPeriod,
      { limit, now }: { readonly limit: number; readonly now: Date },
    ): Promise<number> => {
      const bindings = {
        accountId,
        from: period.from,
        to: period.to,
        subscriptionId: period.subscriptionId ?? null,
        status: period.status ?? null,
        limit,
        now,
      };
      if (await isDistributed(knex)) return redeliverPeriodOnNode(knex, bindings);
      const { rows } = await knex.raw<{ rows: { readonly count: number }[] }>(
        `${PERIOD}, inserted as (
           ${INSERT}
           select s.account_id, c.subscription_id, c.event_id, c.event_at, c.instance_id, c.type, c.unfiltered, ${STATE}, ${DUE}
           from chosen c join target s on s.id = c.subscription_id
           where (select count(*) from chosen) <= :limit
           order by c.id
         )
         select count(*) as count from chosen`,
        bindings,
      );
      return firstOf(rows).count;
    },
  };
}

/** A delivery as it is inserted. Its time is a text, because a date of JavaScript has milliseconds only. */
interface Target {
  readonly account_id: number;
  readonly subscription_id: number;
  readonly event_id: string;
  readonly event_at: string;
  readonly instance_id: number | null;
  readonly type: string;
  readonly unfiltered: boolean;
  readonly state: 'waiting' | 'queued';
  readonly due: Date | null;
}

const targetOf = (
  row: string,
) => `${row}.subscription_id, ${row}.event_id, ${row}.event_at::text as event_at, ${row}.instance_id,
  ${row}.type, ${row}.unfiltered, ${STATE} as state, ${DUE} as due`;

const ROWS_AT_ONCE = 5_000;

/** Reads before it inserts: a distributed database stores the rows in between on the coordinator otherwise. */
function redeliverOnNode(
  knex: Knex,
  bindings: { readonly accountId: number; readonly id: number; readonly now: Date },
): Promise<number | undefined> {
  return knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: Target[] }>(
      `${ONE} select s.account_id, ${targetOf('s')} from target s`,
      bindings,
    );
    if (rows.length === 0) return undefined;
    const [inserted] = await trx('delivery')
      .insert(rows.map(toInserted(trx)))
      .returning('id');
    return inserted?.id;
  });
}

function redeliverPeriodOnNode(knex: Knex, bindings: Knex.ValueDict & { readonly limit: number }): Promise<number> {
  return knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: Target[] }>(
      `${PERIOD}
       select s.account_id, ${targetOf('c')} from chosen c join target s on s.id = c.subscription_id order by c.id`,
      bindings,
    );
    if (rows.length > bindings.limit) return rows.length;
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      await trx('delivery').insert(rows.slice(at, at + ROWS_AT_ONCE).map(toInserted(trx)));
    return rows.length;
  });
}

function toInserted(knex: Knex) {
  return (target: Target) => ({ ...target, event_at: knex.raw<Date>('?::timestamptz', [target.event_at]) });
}
