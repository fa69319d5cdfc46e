/**
 * Measures statements of the event engine on a large database: `npm run bench:scale [-- --accounts 100000 --deliveries 10000000]`. Each
 * account has one subscription with waiting deliveries, and one delivery in a hundred is due. It prints the size, and how long statements
 * take. Over the cluster of `.ci/with-citus`, it also prints what a statement costs by the number of shards that it touches. The server
 * runs on the same machine. Ends by itself.
 */
import { randomUUID } from 'node:crypto';
import { measureBacklog } from '../../src/db/backlog.ts';
import { firstOf } from '../../src/db/row.ts';
import { createAcceptStore } from '../../src/events/accept/accept-store.ts';
import { createOwnerStore } from '../../src/events/owners/owner-store.ts';
import { createClaimStore } from '../../src/events/sweep/claim-store.ts';
import { createMetrics } from '../../src/metrics.ts';
import { ALL_BUCKETS } from '../../test/support/buckets.ts';
import { query } from '../../test/support/nodes.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { describeMachine, quantile, readNumbers, round } from './measure.ts';

const { accounts, deliveries } = readNumbers({ accounts: 100_000, deliveries: 10_000_000 });
const DUE_PART = 0.01;
const [VISITS, CLAIM_ROWS, ACCOUNTS_OF_CLAIM] = [1_000, 500, 50];
const TRIES = 30;
const SHARDS = [1, 4, 16, 64];

const database = await startLoadDatabase();
const { knex } = database;
try {
  const beganMs = performance.now();
  await fill();
  const fillSeconds = (performance.now() - beganMs) / 1000;
  const bytes = await sizeOf('delivery');
  const seconds = fillSeconds.toFixed(0);
  console.log(
    `${accounts} accounts, ${deliveries} deliveries: filled in ${seconds} s, ${(bytes / 1e9).toFixed(2)} GB, ${Math.round(bytes / deliveries)} bytes a delivery with its indexes`,
  );
  console.table(await measureStatements());
  if (database.isDistributed) console.table(await measureShards());
  console.log({ ...describeMachine(), isDistributed: database.isDistributed });
} finally {
  await database.stop();
}

async function fill(): Promise<void> {
  const { organization_id: organizationId } = firstOf(await knex('account').select('organization_id').limit(1));
  await knex.raw(
    `insert into account (organization_id, name, external_id)
     select ?::bigint, 'scale ' || n, 'scale ' || n from generate_series(1, ?::int) n`,
    [organizationId, accounts - 1],
  );
  const ids = (await knex('account').select('id')).map(({ id }) => id);
  await knex.raw(
    `insert into subscription (account_id, url, secrets) select n, 'https://receiver.example.com/' || n, 'sealed'
     from unnest(?::bigint[]) n`,
    [ids],
  );
  // As a failed first attempt leaves them. These statements may take longer than those of the service.
  await query(
    database.url,
    `insert into delivery (account_id, subscription_id, event_id, event_at, type, state, attempts, due, first_failed_at)
     select s.account_id, s.id, gen_random_uuid(), now(), 'orders.updated', 'waiting', 1,
       now() + (random() - ${DUE_PART}) * interval '10 hours', now()
     from subscription s cross join generate_series(1, ${Math.round(deliveries / accounts)})`,
  );
  await query(database.url, 'vacuum analyze delivery');
  await query(database.url, 'analyze subscription');
}

async function sizeOf(table: string): Promise<number> {
  const measure = database.isDistributed ? 'citus_total_relation_size' : 'pg_total_relation_size';
  const { rows } = await knex.raw<{ rows: { bytes: number }[] }>(`select ${measure}(?)::float8 as bytes`, [table]);
  return firstOf(rows).bytes;
}

async function measureStatements() {
  const claims = createClaimStore(knex);
  const accepted = createAcceptStore(knex);
  const owner = randomUUID();
  await createOwnerStore(knex).add(owner);
  const subscriptions = (await knex('subscription').select('id', 'account_id')).map(
    ({ id, account_id: accountId }) => ({
      id,
      accountId,
    }),
  );
  const anySubscription = () => {
    const found = subscriptions[Math.floor(Math.random() * subscriptions.length)];
    if (found === undefined) throw new Error('There are no subscriptions.');
    return found;
  };
  const buckets = ALL_BUCKETS.held();
  const metrics = createMetrics({ processMetrics: false });
  measureBacklog({ knex, metrics, clock: { now: Date.now } });
  return {
    'accept one event': await timesOf(async () => {
      const { id, accountId } = anySubscription();
      const event = { accountId, instanceId: 1, subscriptionId: id, ordered: false, eventId: randomUUID() };
      const rest = { type: 'orders.updated', createdAt: new Date(), payload: Buffer.alloc(1024, 'x') };
      const row = { ...event, ...rest, keyHash: undefined, state: 'delivering' } as const;
      await accepted.insert([row], owner, new Date());
    }),
    'find due ones of 1,000 subscriptions': await timesOf(async () => {
      await claims.endpoints(anySubscription().id, VISITS, { now: new Date(), buckets });
    }),
    'claim 500 of 50 accounts': await timesOf(async () => {
      const shares = Array.from({ length: ACCOUNTS_OF_CLAIM }, anySubscription).map(({ id, accountId }) => ({
        ...{ accountId, subscriptionId: id, isRetry: true },
        limit: CLAIM_ROWS / ACCOUNTS_OF_CLAIM,
      }));
      await claims.claim(shares, { owner, now: new Date() });
    }),
    'find the next due time': await timesOf(() => claims.nextDue(new Date(), buckets)),
    'find the next due time of one in 4 buckets': await timesOf(() =>
      claims.nextDue(
        new Date(),
        buckets.filter((bucket) => bucket % 4 === 0),
      ),
    ),
    'read the metrics of due work': await timesOf(() => metrics.registry.metrics()),
  };
}

async function measureShards() {
  const rows: Record<string, Record<string, number>> = {};
  for (const shards of SHARDS) {
    await knex.raw('create table probe (account_id bigint primary key)');
    await knex.raw(
      `select create_distributed_table('probe', 'account_id', colocate_with => 'none', shard_count => ?)`,
      [shards],
    );
    rows[`all of ${shards} shards`] = await timesOf(() => knex.raw('select count(*) from probe'));
    if (shards === SHARDS.at(-1))
      rows['one shard'] = await timesOf(() => knex.raw('select count(*) from probe where account_id = 1'));
    await knex.raw('drop table probe');
  }
  return rows;
}

/** Returns percentiles in milliseconds, after some tries that do not count. */
async function timesOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const times: number[] = [];
  for (let attempt = -5; attempt < TRIES; attempt++) {
    const beganMs = performance.now();
    await work();
    if (attempt >= 0) times.push(performance.now() - beganMs);
  }
  return { 'p50 ms': round(quantile(times, 0.5), 1), 'p95 ms': round(quantile(times, 0.95), 1) };
}
