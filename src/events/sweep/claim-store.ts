import type { Knex } from 'knex';
import { columnLiterals } from '../../db/array-literal.ts';
import { isDistributed, isOfAccount, perAccount } from '../../db/distributed.ts';
import { firstOf, type RowOf } from '../../db/row.ts';
import { inBuckets } from '../../work-buckets.ts';

/** A subscription with deliveries that are due. */
export interface DueEndpoint extends RowOf<'delivery', 'account_id' | 'subscription_id'> {
  /** URL of the subscription; null when it does not exist. */
  readonly url: string | null;
  readonly dueFirsts: boolean;
  readonly dueRetries: boolean;
}

/** Number of deliveries of a subscription that may be claimed. */
export interface Share extends RowOf<'delivery', 'account_id' | 'subscription_id' | 'is_retry'> {
  readonly limit: number;
}

/** A delivery that this process claimed. Its payload is loaded separately. */
export interface ClaimedRow
  extends RowOf<
    'delivery',
    | 'account_id'
    | 'id'
    | 'subscription_id'
    | 'event_id'
    | 'event_at'
    | 'instance_id'
    | 'ordered'
    | 'attempts'
    | 'retries'
    | 'first_failed_at'
  > {
  readonly unfiltered?: boolean;
  /** URL of the subscription; null when it does not exist. */
  readonly url: string | null;
  /** Maximum number of deliveries per second of the subscription; null for no limit. */
  readonly maxPerSecond?: number | null;
}

/** The oldest unfinished delivery of an ordered subscription. */
export interface OrderedHead extends RowOf<'delivery', 'subscription_id' | 'account_id' | 'id' | 'due'> {
  readonly state: 'delivering' | 'waiting';
}

/** Body of a stored delivery, and its trace. */
export interface StoredBody extends RowOf<'event', 'payload'> {
  readonly traceparent?: string | null;
}

interface ClaimInput {
  readonly owner: string;
  readonly now: Date;
}

export type ClaimStore = ReturnType<typeof createClaimStore>;

export function createClaimStore(knex: Knex) {
  return {
    /**
     * Returns up to `visits` subscriptions above the cursor that have waiting deliveries, and of those in the buckets whether some are due. It
     * may leave out those without.
     * The query skips from one subscription to the next in the index, however many deliveries each has.
     */
    endpoints: async (
      afterId: number,
      visits: number,
      { now, buckets }: { readonly now: Date; readonly buckets: readonly number[] },
    ): Promise<readonly DueEndpoint[]> => {
      const held = [...buckets];
      const { rows } = (await isDistributed(knex))
        ? await knex.raw<{ rows: DueEndpoint[] }>(DISTRIBUTED_ENDPOINTS, [
            ...[now, now],
            ...[afterId, held, now, visits],
          ])
        : await knex.raw<{ rows: DueEndpoint[] }>(ENDPOINTS, [afterId, visits, held, now, held, now]);
      return rows;
    },

    /**
     * Returns the subscriptions with due deliveries, of those in the buckets, if at most `limit` deliveries are due. Undefined if more are, or if
     * the database is distributed. Its cost follows from the deliveries that are due, and not from the subscriptions whose deliveries wait.
     */
    fewDue: async (
      limit: number,
      { now, buckets }: { readonly now: Date; readonly buckets: readonly number[] },
    ): Promise<readonly DueEndpoint[] | undefined> => {
      if (await isDistributed(knex)) return undefined;
      const { rows } = await knex.raw<{ rows: { readonly many: boolean }[] }>(MANY_DUE, [limit, now]);
      if (firstOf(rows).many) return undefined;
      const { rows: due } = await knex.raw<{ rows: DueEndpoint[] }>(FEW_DUE, [now, [...buckets]]);
      return due;
    },

    /**
     * Claims the deliveries of each share, the longest due first. It skips rows that others have locked. It claims nothing for an owner
     * that was declared dead.
     */
    claim: async (shares: readonly Share[], { owner, now }: ClaimInput): Promise<readonly ClaimedRow[]> => {
      const claimed = await perAccount(knex, shares, async (via, ofOne, accountId) => {
        const { rows } = await via.raw<{ rows: ClaimedRow[] }>(claim(accountId), [
          owner,
          owner,
          ...columnLiterals(ofOne, ['subscriptionId', 'isRetry', 'limit']),
          now,
        ]);
        return rows;
      });
      return sortedById(claimed.flat());
    },

    /** Returns the first delivery of up to `visits` ordered subscriptions above the cursor. */
    orderedHeads: async (afterId: number, visits: number): Promise<readonly OrderedHead[]> => {
      const statement = (await isDistributed(knex)) ? DISTRIBUTED_HEADS : ORDERED_HEADS;
      const { rows } = await knex.raw<{ rows: OrderedHead[] }>(statement, [afterId, visits]);
      return rows;
    },

    /**
     * Claims heads that are still due and the oldest of their subscription.
     * @throws when another process claims one of the same subscription
     */
    claimHeads: async (
      heads: readonly Pick<OrderedHead, 'accountId' | 'id'>[],
      { owner, now }: ClaimInput,
    ): Promise<readonly ClaimedRow[]> => {
      const claimed = await perAccount(knex, heads, async (via, ofOne, accountId) => {
        const { rows } = await via.raw<{ rows: ClaimedRow[] }>(claimHeads(accountId), [
          ...columnLiterals(ofOne, ['accountId', 'id']),
          now,
          owner,
        ]);
        return rows;
      });
      return claimed.flat();
    },

    /**
     * Reads bodies in the given order until they exceed `maxBytes`, but at least one. The result lacks the others, and deliveries without
     * an event. On a distributed database, it also lacks deliveries of other accounts than the first.
     */
    payloads: async (claimed: readonly ClaimedRow[], maxBytes: number): Promise<ReadonlyMap<number, StoredBody>> => {
      const onlyOf = (await isDistributed(knex)) ? claimed[0]?.accountId : undefined;
      const read = onlyOf === undefined ? claimed : claimed.filter(({ accountId }) => accountId === onlyOf);
      const { rows } = await knex.raw<{ rows: (RowOf<'delivery', 'id'> & StoredBody)[] }>(payloads(onlyOf), [
        ...columnLiterals(read, ['accountId', 'id', 'eventId', 'eventAt']),
        maxBytes,
      ]);
      return new Map(rows.map(({ id, ...body }) => [id, body]));
    },

    /** Returns the time at which the next delivery in these buckets becomes due. */
    nextDue: async (now: Date, buckets: readonly number[]): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: RowOf<'delivery', 'due'>[] }>(NEXT_DUE, [now, [...buckets]]);
      return firstOf(rows).due ?? undefined;
    },

    /** Makes parked first attempts of subscriptions due at once. */
    unpark: async (
      lanes: readonly { readonly accountId: number; readonly subscriptionId: number }[],
      now: Date,
    ): Promise<number> => {
      const counts = await perAccount(knex, lanes, async (via, ofOne, accountId) => {
        const { rowCount } = await via.raw<{ rowCount: number }>(unpark(accountId), [
          now,
          ...columnLiterals(ofOne, ['accountId', 'subscriptionId']),
          now,
        ]);
        return rowCount;
      });
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** An update returns rows in the order of the table. */
function sortedById(rows: readonly ClaimedRow[]): readonly ClaimedRow[] {
  return rows.toSorted((left, right) => left.id - right.id);
}

const claimedOf = (
  accountId: number | undefined,
) => `d.account_id as "accountId", d.id, d.subscription_id as "subscriptionId", d.event_id as "eventId",
  d.event_at as "eventAt", d.instance_id as "instanceId", d.ordered, d.attempts, d.retries,
  d.first_failed_at as "firstFailedAt", d.unfiltered, ${ofSubscription('url', 'd', accountId)} as url,
  ${ofSubscription('max_per_second', 'd', accountId)} as "maxPerSecond"`;

/** A sub-select, so that it is looked up by its key whatever else is joined. */
function ofSubscription(column: 'url' | 'max_per_second', row: string, accountId?: number): string {
  return `(select s.${column} from subscription s
    where s.account_id = ${row}.account_id and s.id = ${row}.subscription_id ${isOfAccount('s', accountId)})`;
}

/** Replaces a skip scan, which PostgreSQL has only from version 18: a recursion that reads the next subscription each time. */
function hop(condition: string): string {
  const next = (after: string) =>
    `select account_id, subscription_id from delivery where ${condition} and subscription_id > ${after} order by subscription_id limit 1`;
  return `with recursive hop as (
      (${next('?')})
      union all
      select step.* from hop cross join lateral (${next('hop.subscription_id')}) step
    ),
    endpoint as (select account_id, subscription_id from hop limit ?)`;
}

// `ordered` and `is_retry` are written as in the index, so that each question needs only its first entry.
const isDue = (isRetry: boolean) => `${inBuckets('endpoint.subscription_id')} and coalesce((
    select d.due <= ? from delivery d
    where d.state = 'waiting' and d.subscription_id = endpoint.subscription_id
      and d.ordered = false and d.is_retry = ${isRetry}
    order by d.due limit 1
  ), false)`;

const ENDPOINTS = `${hop("state = 'waiting'")}
  select account_id as "accountId", subscription_id as "subscriptionId", ${ofSubscription('url', 'endpoint')} as url, ${isDue(false)} as "dueFirsts", ${isDue(true)} as "dueRetries"
  from endpoint`;

/** Reads the start of the index over due times, however many deliveries are due. */
const MANY_DUE = `
  select coalesce((
    select due from delivery where state = 'waiting' and not ordered order by due offset ? limit 1
  ) <= ?, false) as many`;

const FEW_DUE = `
  with endpoint as materialized (
    select account_id, subscription_id, bool_or(not is_retry) as firsts, bool_or(is_retry) as retries from delivery
    where state = 'waiting' and not ordered and due <= ? and ${inBuckets('subscription_id')}
    group by account_id, subscription_id
  )
  select account_id as "accountId", subscription_id as "subscriptionId", ${ofSubscription('url', 'endpoint')} as url,
    firsts as "dueFirsts", retries as "dueRetries"
  from endpoint`;

const hasDue = (condition = '') => `exists (
    select from delivery d
    where d.account_id = s.account_id and d.subscription_id = s.id and d.state = 'waiting' and d.ordered = false
      and d.due <= ? ${condition}
  )`;

/**
 * The same without a recursion, which a distributed database refuses over several nodes. It returns only subscriptions with due deliveries,
 * so that its cost follows from these, and not from all that wait. A subscription is only removed after its deliveries.
 */
const DISTRIBUTED_ENDPOINTS = `
  select s.account_id as "accountId", s.id as "subscriptionId", s.url,
    ${hasDue('and d.is_retry = false')} as "dueFirsts",
    ${hasDue('and d.is_retry = true')} as "dueRetries"
  from subscription s
  where s.id > ? and ${inBuckets('s.id')} and ${hasDue()}
  order by s.id limit ?`;

// An array of places in the table, as the planner knows no better way to them than going there; a join by key might read all of a large table.
const claim = (accountId: number | undefined) => `
  update delivery d set state = 'delivering', owner = ?, due = null, updated_at = now()
  where exists (select from event_owner where id = ?) and d.state = 'waiting' ${isOfAccount('d', accountId)}
  and d.ctid = any(array(
    select p.place
    from unnest(?::bigint[], ?::boolean[], ?::int[]) as share(subscription_id, is_retry, room)
    cross join lateral (
      select w.ctid as place from delivery w
      where w.state = 'waiting' and w.subscription_id = share.subscription_id and w.ordered = false
        and w.is_retry = share.is_retry and w.due <= ? ${isOfAccount('w', accountId)}
      order by w.due, w.id
      limit share.room
      for update skip locked
    ) p
  ))
  returning ${claimedOf(accountId)}`;

const ORDERED_HEADS = `${hop("ordered and state <> 'queued'")}
  select head.* from endpoint
  cross join lateral (
    select d.subscription_id as "subscriptionId", d.account_id as "accountId", d.id, d.state, d.due from delivery d
    where d.ordered and d.state <> 'queued' and d.subscription_id = endpoint.subscription_id
    order by d.id limit 1
  ) head`;

const DISTRIBUTED_HEADS = `
  select head.* from subscription s
  cross join lateral (
    select d.subscription_id as "subscriptionId", d.account_id as "accountId", d.id, d.state, d.due from delivery d
    where d.account_id = s.account_id and d.subscription_id = s.id and d.ordered and d.state <> 'queued'
    order by d.id limit 1
  ) head
  where s.id > ?
  order by s.id limit ?`;

const claimHeads = (accountId: number | undefined) => `
  update delivery d set state = 'delivering', owner = head.owner, due = null, updated_at = now()
  from (
    select h.account_id, h.id, own.now, own.owner
    from unnest(?::bigint[], ?::bigint[]) as h(account_id, id), (select ?::timestamptz as now, id as owner from event_owner where id = ?) own
  ) head
  where d.account_id = head.account_id and d.id = head.id and d.ordered and d.state = 'waiting' and d.due <= head.now
    ${isOfAccount('d', accountId)}
    and not exists (
      select from delivery older
      where older.ordered and older.state <> 'queued' and older.subscription_id = d.subscription_id
        and (older.id < d.id or older.state = 'delivering') ${isOfAccount('older', accountId)}
    )
  returning ${claimedOf(accountId)}`;

const payloads = (accountId: number | undefined) => `
  select sized.id, sized.payload, sized.traceparent from (
    select c.id, e.payload, e.traceparent, c.ordinality,
      sum(octet_length(e.payload)) over (order by c.ordinality) as running_bytes
    from unnest(?::bigint[], ?::bigint[], ?::uuid[], ?::timestamptz[])
      with ordinality as c(account_id, id, event_id, event_at, ordinality)
    join event e on e.account_id = c.account_id and e.id = c.event_id and e.created_at = c.event_at
      ${isOfAccount('e', accountId)}
  ) sized
  where sized.running_bytes <= ?::bigint or sized.ordinality = 1`;

const NEXT_DUE = `select min(due) as due from delivery
  where state = 'waiting' and not ordered and due > ? and ${inBuckets('subscription_id')}`;

const unpark = (accountId: number | undefined) => `
  update delivery d set due = ?, updated_at = now()
  where d.state = 'waiting' ${isOfAccount('d', accountId)} and d.ctid = any(array(
    select p.place
    from unnest(?::bigint[], ?::bigint[]) as lane(account_id, subscription_id)
    cross join lateral (
      select w.ctid as place from delivery w
      where w.state = 'waiting' and w.subscription_id = lane.subscription_id and w.ordered = false
        and w.is_retry = false and w.due > ? and w.account_id = lane.account_id ${isOfAccount('w', accountId)}
      for update skip locked
    ) p
  ))`;
