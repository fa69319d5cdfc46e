import type { Knex } from 'knex';
import type { LoadDatabase } from '../event-load/postgres.ts';

const STORED_ATTEMPTS = 5_000_000;
const ROUNDS = 3;
const FILLS = ['empty', 'full'] as const;

/** Of one load: PostgreSQL's processor time per 1,000 deliveries in milliseconds, and WAL per delivery in bytes. */
export interface Cost {
  readonly cpu: number;
  readonly wal: number;
}

/**
 * What 5 million stored attempts add to the cost of a load. Alternates between an empty partition of today and a full one, as what else the machine
 * does changes more than the fill; the figures are medians.
 */
export async function compareStoredAttempts(database: LoadDatabase, measureCost: () => Promise<Cost>) {
  const partitions = await makePartitions(database);
  const costs: Record<keyof typeof partitions, Cost[]> = { empty: [], full: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const fill of FILLS) {
      await partitions[fill].use();
      costs[fill].push(await measureCost());
    }
  }
  const [empty, full] = [medianOf(costs.empty), medianOf(costs.full)];
  return {
    storedAttempts: STORED_ATTEMPTS,
    rounds: ROUNDS,
    cpuMsPer1000Empty: empty.cpu,
    cpuMsPer1000Full: full.cpu,
    cpuRatio: full.cpu / empty.cpu,
    walRatio: full.wal / empty.wal,
  };
}

/** Two tables for today's attempts, of which one at a time is in use. */
async function makePartitions({ knex, accountId }: LoadDatabase) {
  const { rows } = await knex.raw(
    `select relname as empty, pg_get_expr(relpartbound, oid) as bound from pg_class
     where oid = (select tableoid from delivery_attempt order by attempted_at desc limit 1)`,
  );
  const { empty, bound } = rows[0];
  const use = async (table: string, other: string) => {
    await knex.transaction(async (trx) => {
      await trx.raw('alter table delivery_attempt detach partition ??', [other]);
      await trx.raw(`alter table delivery_attempt attach partition ?? ${bound}`, [table]);
    });
    await knex.raw('checkpoint');
  };
  await knex.raw('create table full_attempts (like ?? including all)', [empty]);
  await fillAttempts(knex, accountId);
  await use('full_attempts', empty);
  return {
    empty: { use: () => use(empty, 'full_attempts') },
    full: { use: () => use('full_attempts', empty) },
  };
}

/** As a busy day leaves it: the deliveries to come have higher ids. */
async function fillAttempts(knex: Knex, accountId: number): Promise<void> {
  const rows = 500_000;
  await knex.raw('alter table delivery alter column id restart with 1000000000');
  for (let from = 0; from < STORED_ATTEMPTS; from += rows) {
    await knex.raw(
      `insert into full_attempts
         (account_id, delivery_id, attempt, attempted_at, delivered, duration_ms, status_code, subscription_id, event_id, event_at, instance_id, type, delivery_created_at)
       select ?, n, 1, now(), true, 3, 204, n % 100, gen_random_uuid(), now(), n % 100, 'items.updated', now()
       from generate_series(?::bigint, ?::bigint) n`,
      [accountId, from + 1, from + rows],
    );
  }
  await knex.raw('vacuum analyze full_attempts');
}

function medianOf(costs: readonly Cost[]): Cost {
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return { cpu: middle(costs.map(({ cpu }) => cpu)), wal: middle(costs.map(({ wal }) => wal)) };
}
