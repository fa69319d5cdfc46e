import type { Knex } from 'knex';
import { drained } from '../event-load/postgres.ts';
import { pathsOf, type Scenario, startEngine } from './scenario.ts';

interface BacklogOptions {
  readonly deliveries: number;
  readonly endpoints: number;
  readonly withinSeconds: number;
}

const FIRST_NUMBER = 800_000_000;

/** An outage has ended and all deliveries are due at the same time. */
export function dueRetries({ deliveries, endpoints, withinSeconds }: BacklogOptions): Scenario {
  return async (stage) => {
    const { knex, accountIds } = stage.database;
    const [accountId = 0] = accountIds;
    const paths = pathsOf('backlog', endpoints);
    const first = await startEngine(stage, paths);
    await first.stop();
    await insertDueRetries(knex, { accountId, deliveries, paths: paths.map((path) => stage.receiver.url + path) });
    await stage.receiver.report();

    const startedAt = performance.now();
    const sender = await startEngine(stage, paths);
    const { left } = await drained(knex, { timeoutMs: withinSeconds * 1000 * 2 });
    const seconds = (performance.now() - startedAt) / 1000;
    const { received } = await stage.receiver.report();
    await sender.stop();
    return [
      {
        promise: `${deliveries} due retries over ${endpoints} endpoints drain in < ${withinSeconds} s`,
        found: `${seconds.toFixed(1)} s (${Math.round(deliveries / seconds)}/s), ${received} arrived, ${left} left`,
        kept: seconds < withinSeconds && left === 0 && received >= deliveries,
      },
    ];
  };
}

interface Backlog {
  readonly accountId: number;
  readonly deliveries: number;
  readonly paths: readonly string[];
}

/** Stores deliveries as they are after one failed attempt an hour ago. */
async function insertDueRetries(knex: Knex, { accountId, deliveries, paths }: Backlog): Promise<void> {
  await knex.raw(
    `with subscriptions as (
       select id, row_number() over (order by id) - 1 as place from subscription where account_id = :accountId and url = any (:paths)
     ),
     numbered as (
       select n, s.id as subscription_id, gen_random_uuid() as event_id,
         date_trunc('milliseconds', now()) as at
       from generate_series(1, :deliveries::int) n join subscriptions s on s.place = n % :endpoints
     ),
     events as (
       insert into event (account_id, id, created_at, instance_id, type, payload)
       select :accountId, event_id, at, 0, 'items.updated',
         format('{"id":"%s","data":{"objectId":"%s:0","text":"%s"}}', event_id, :firstNumber + n, repeat('x', 900))
       from numbered
     )
     insert into delivery
       (account_id, subscription_id, event_id, event_at, instance_id, type, state, attempts, retries, due, first_failed_at)
     select :accountId, subscription_id, event_id, at, 0, 'items.updated', 'waiting', 1, 0, at, at
     from numbered`,
    { accountId, paths: [...paths], endpoints: paths.length, deliveries, firstNumber: FIRST_NUMBER },
  );
  await knex.raw('analyze delivery');
}
