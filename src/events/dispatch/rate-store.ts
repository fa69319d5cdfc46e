import type { Knex } from 'knex';
import { columnLiterals } from '../../db/array-literal.ts';
import { isDistributed, perAccount } from '../../db/distributed.ts';
import { firstOf, type RowOf } from '../../db/row.ts';
import { inTransaction } from '../../db/transaction.ts';

/** A request for times at which a subscription with a rate may be pushed to. */
export interface RateRequest extends RowOf<'delivery', 'account_id' | 'subscription_id'> {
  /** Number of pushes. */
  readonly count: number;
}

/**
 * Times that belong to this process alone: `count` of them, `spacingMs` apart, the first in `delayMs`. None (`count` is 0) if nothing may be sent
 * to the subscription now.
 */
export interface ReservedTimes extends RowOf<'delivery', 'subscription_id'> {
  readonly count: number;
  readonly delayMs: number;
  readonly spacingMs: number;
}

export type RateStore = ReturnType<typeof createRateStore>;

/** Creates the store of rates. Each process reserves its times here, so that all of them together keep to the rate. */
export function createRateStore(knex: Knex) {
  return {
    /**
     * Reserves the next free times of each subscription, by the clock of the database.
     * @returns the reserved times, without subscriptions that have no rate any more
     */
    reserve: async (requests: readonly RateRequest[]): Promise<readonly ReservedTimes[]> => {
      if (await isDistributed(knex)) {
        const reserved = await perAccount(knex, requests, reserveOfAccount);
        return reserved.flat();
      }
      const { rows } = await knex.raw<{ rows: ReservedTimes[] }>(RESERVE, [
        ...columnLiterals(requests, ['accountId', 'subscriptionId', 'count']),
      ]);
      return rows;
    },
  };
}

// Locked in their order, so that two processes that reserve for the same endpoints cannot block each other. The time is read once the row is
// locked: a reservation that waited for another one begins behind it.
const RESERVE = `
  with requested as (
    select * from unnest(?::bigint[], ?::bigint[], ?::int[]) as q(account_id, subscription_id, count)
  ),
  locked as materialized (
    select r.account_id, r.subscription_id, q.count, 1000 / s.max_per_second as spacing_ms
    from requested q
    join endpoint_rate r on r.account_id = q.account_id and r.subscription_id = q.subscription_id
    join subscription s on s.account_id = q.account_id and s.id = q.subscription_id
    where s.max_per_second is not null and s.state = 'active'
    order by r.account_id, r.subscription_id
    for update of r
  ),
  reserved as (
    update endpoint_rate r
    set next_at = greatest(r.next_at, clock_timestamp()) + l.count * l.spacing_ms * interval '1 millisecond'
    from locked l where r.account_id = l.account_id and r.subscription_id = l.subscription_id
    returning r.subscription_id, l.count, l.spacing_ms,
      1000 * extract(epoch from r.next_at - clock_timestamp())::float8 - l.count * l.spacing_ms as delay_ms
  )
  select subscription_id as "subscriptionId", count, spacing_ms as "spacingMs", delay_ms as "delayMs" from reserved
  union all
  select q.subscription_id, 0, 0, 0 from requested q
  join subscription s on s.account_id = q.account_id and s.id = q.subscription_id
  where s.state <> 'active'`;

interface RateRow {
  readonly subscriptionId: number;
  readonly spacingMs: number | null;
  readonly nextAtMs: number;
}

/**
 * Reserves times of one account on a distributed database, which doesn't read its clock within an update. The clock is the coordinator's, because
 * those of the nodes may differ.
 */
function reserveOfAccount(knex: Knex, requests: readonly RateRequest[]): Promise<readonly ReservedTimes[]> {
  const reserve = async (via: Knex): Promise<readonly ReservedTimes[]> => {
    const [accountId] = requests.map((request) => request.accountId);
    const { rows } = await via.raw<{ rows: RateRow[] }>(LOCK_RATES, [
      accountId ?? null,
      accountId ?? null,
      requests.map(({ subscriptionId }) => subscriptionId),
    ]);
    const { rows: clocks } = await via.raw<{ rows: { nowMs: number }[] }>(
      'select 1000 * extract(epoch from clock_timestamp())::float8 as "nowMs"',
    );
    const { nowMs } = firstOf(clocks);
    const reserved: ReservedTimes[] = [];
    for (const { subscriptionId, spacingMs, nextAtMs } of rows) {
      const count = requests.find((request) => request.subscriptionId === subscriptionId)?.count ?? 0;
      if (spacingMs === null) {
        reserved.push({ subscriptionId, count: 0, spacingMs: 0, delayMs: 0 });
        continue;
      }
      const firstMs = Math.max(nextAtMs, nowMs);
      await via('endpoint_rate')
        .where({ account_id: accountId, subscription_id: subscriptionId })
        .update({ next_at: via.raw('to_timestamp(?::float8)', [(firstMs + count * spacingMs) / 1000]) });
      reserved.push({ subscriptionId, count, spacingMs, delayMs: firstMs - nowMs });
    }
    return reserved;
  };
  return inTransaction(knex, reserve);
}

// No spacing: nothing may be sent to a subscription that is not active.
const LOCK_RATES = `
  select r.subscription_id as "subscriptionId", 1000 * extract(epoch from r.next_at)::float8 as "nextAtMs",
    case when s.state = 'active' then 1000 / s.max_per_second end as "spacingMs"
  from endpoint_rate r join subscription s on s.account_id = r.account_id and s.id = r.subscription_id
  where r.account_id = ? and s.account_id = ? and r.subscription_id = any(?::bigint[])
    and (s.state <> 'active' or s.max_per_second is not null)
  order by r.subscription_id
  for update of r`;
