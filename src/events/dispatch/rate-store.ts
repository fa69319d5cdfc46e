import type { Knex } from 'knex';
import type { RowOf } from '../../db/row.ts';

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
      const { rows } = await knex.raw<{ rows: ReservedTimes[] }>(RESERVE, [
        requests.map(({ accountId }) => accountId),
        requests.map(({ subscriptionId }) => subscriptionId),
        requests.map(({ count }) => count),
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
