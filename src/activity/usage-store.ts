import type { Knex } from 'knex';
import { arrayLiteral, columnLiterals } from '../db/array-literal.ts';
import { isDistributed, perAccount } from '../db/distributed.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Interval, Period } from './intervals.ts';
import type { CountedMetric, Tally } from './tallies.ts';

/** Owner of usage: an account, or all accounts of an organization. */
type UsageOwner = { readonly accountId: number } | { readonly organizationId: number };

type TallyRow = Omit<Tally, 'atMs'> & { readonly at: Date };

const NUMBERS = ['count', 'clientErrors', 'serverErrors', 'totalUs', 'minUs', 'maxUs'] as const;

/** Creates the store of the tables `usage_minute`, `usage_hour` and `usage_day`. */
export function createUsageStore(knex: Knex) {
  return {
    /** Adds counts to the stored ones. All processes add in the given order, so that they never block each other. */
    add: async (interval: Interval, tallies: readonly Tally[]): Promise<void> => {
      if (await isDistributed(knex)) {
        await perAccount(knex, tallies, (via, ofOne) => addOfAccount(via, interval, ofOne));
        return;
      }
      await knex.raw(
        `insert into usage_${interval} as u (account_id, metric, element_key, at, durations,
           count, client_errors, server_errors, total_us, min_us, max_us)
         select account_id, metric, element_key, at, durations::integer[], count, client_errors, server_errors, total_us, min_us, max_us
         from unnest(?::bigint[], ?::text[], ?::text[], ?::timestamptz[], ?::text[],
           ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
           as n(account_id, metric, element_key, at, durations, count, client_errors, server_errors, total_us, min_us, max_us)
         on conflict (account_id, metric, at, element_key) do update set
           count = u.count + excluded.count,
           client_errors = u.client_errors + excluded.client_errors,
           server_errors = u.server_errors + excluded.server_errors,
           total_us = u.total_us + excluded.total_us,
           min_us = least(u.min_us, excluded.min_us),
           max_us = greatest(u.max_us, excluded.max_us),
           durations = array(
             select coalesce(mine, 0) + coalesce(theirs, 0)
             from unnest(u.durations, excluded.durations) with ordinality as d(mine, theirs, bucket) order by bucket)`,
        [
          ...columnLiterals(tallies, ['accountId', 'metric', 'elementKey']),
          arrayLiteral(tallies.map(({ atMs }) => new Date(atMs).toISOString())),
          arrayLiteral(tallies.map(({ durations }) => arrayLiteral(durations))),
          ...columnLiterals(tallies, NUMBERS),
        ],
      );
    },

    /** Lists the counts of each metric from old to new. */
    list: async (owner: UsageOwner, metrics: readonly CountedMetric[], period: Period): Promise<readonly Tally[]> => {
      const { interval, fromMs, toMs } = period;
      const [isOwners, id] =
        'accountId' in owner
          ? ['account_id = ?', owner.accountId]
          : ['account_id in (select id from account where organization_id = ?)', owner.organizationId];
      const { rows } = await knex.raw<{ rows: TallyRow[] }>(
        `select account_id as "accountId", metric, element_key as "elementKey", at, count, client_errors as "clientErrors",
           server_errors as "serverErrors", total_us as "totalUs", min_us as "minUs", max_us as "maxUs", durations
         from usage_${interval} where ${isOwners} and metric = any(?::text[]) and at >= ? and at < ? order by at, account_id, element_key`,
        [id, arrayLiteral(metrics), new Date(fromMs), new Date(toMs)],
      );
      return rows.map(({ at, ...row }) => ({ ...row, atMs: at.getTime() }));
    },
  };
}

/**
 * Adds counts of one account on a distributed database, which takes no query within an upsert. It creates the missing rows, locks all of them
 * in their order, and adds.
 */
function addOfAccount(knex: Knex, interval: Interval, tallies: readonly Tally[]): Promise<void> {
  const table = `usage_${interval}` as const;
  const add = async (via: Knex): Promise<void> => {
    await via(table)
      .insert(tallies.map((tally) => ({ ...keyOf(tally), ...NOTHING, min_us: tally.minUs, max_us: tally.maxUs })))
      .onConflict(['account_id', 'metric', 'at', 'element_key'])
      .ignore();
    for (const tally of tallies) {
      const stored = await via(table).where(keyOf(tally)).forUpdate().first('durations');
      const durations = addDurations(stored?.durations ?? [], tally.durations);
      await via.raw(
        `update ${table} set count = count + ?, client_errors = client_errors + ?, server_errors = server_errors + ?,
           total_us = total_us + ?, min_us = least(min_us, ?::bigint), max_us = greatest(max_us, ?::bigint), durations = ?::integer[]
         where account_id = ? and metric = ? and at = ? and element_key = ?`,
        [...NUMBERS.map((name) => tally[name]), arrayLiteral(durations), ...Object.values(keyOf(tally))],
      );
    }
  };
  return inTransaction(knex, add);
}

const NOTHING = { durations: [], count: 0, client_errors: 0, server_errors: 0, total_us: 0 };

function keyOf({ accountId, metric, atMs, elementKey }: Tally) {
  return { account_id: accountId, metric, at: new Date(atMs), element_key: elementKey };
}

function addDurations(stored: readonly number[], added: readonly number[]): number[] {
  const length = Math.max(stored.length, added.length);
  return Array.from({ length }, (_, bucket) => (stored[bucket] ?? 0) + (added[bucket] ?? 0));
}
