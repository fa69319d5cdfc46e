import type { Knex } from 'knex';

/** What is known of each database, by the configuration that its pool shares with the transactions. */
const known = new WeakMap<object, boolean>();

/**
 * Returns whether the tables are split by account over several nodes. It asks the database once, so a process that runs when its database is
 * distributed must be restarted.
 */
export async function isDistributed(knex: Knex): Promise<boolean> {
  const { config } = knex.client;
  const answer = known.get(config);
  if (answer !== undefined) return answer;
  const found = await isDistributedSchema(knex);
  known.set(config, found);
  return found;
}

/** The table by which all others with an account are placed. */
export const FIRST_OF_ACCOUNTS = 'instance';

/** @internal Sets that each node uses one connection for all of its shards, until the end of the transaction. */
export const SEQUENTIAL = `set local citus.multi_shard_modify_mode = 'sequential'`;

/** @internal Asks the database whether its tables are distributed, also where newer tables are not yet. */
export async function isDistributedSchema(knex: Knex): Promise<boolean> {
  if (!(await hasExtension(knex))) return false;
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `select from pg_dist_partition where logicalrelid = to_regclass(?) and partmethod = 'h'`,
    [FIRST_OF_ACCOUNTS],
  );
  return rows.length > 0;
}

/** @internal Returns whether the database can distribute tables. */
export async function hasExtension(knex: Knex): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: unknown[] }>(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/**
 * Runs a statement on rows of several accounts: once with all of them, or on a distributed database once per account, so that each goes to
 * one node. Several are one transaction.
 * @param work gets the account that all of its rows have; undefined for rows of any account
 */
export async function perAccount<Row extends { readonly accountId: number }, Result>(
  knex: Knex,
  rows: readonly Row[],
  work: (via: Knex, rows: readonly Row[], accountId: number | undefined) => Promise<Result>,
): Promise<readonly Result[]> {
  if (!(await isDistributed(knex))) return [await work(knex, rows, undefined)];
  // In one order, so that two processes cannot block each other.
  const groups = [...Map.groupBy(rows, ({ accountId }) => accountId)].sort(([one], [other]) => one - other);
  const workAll = async (via: Knex): Promise<readonly Result[]> => {
    const results: Result[] = [];
    for (const [accountId, ofOne] of groups) results.push(await work(via, ofOne, accountId));
    return results;
  };
  return groups.length <= 1 || knex.isTransaction ? workAll(knex) : knex.transaction(workAll);
}

/**
 * Returns a condition that names the account of a row as a constant, by which a distributed database finds the node. It is empty without an
 * account.
 */
export function isOfAccount(row: string, accountId: number | undefined): string {
  return accountId === undefined ? '' : `and ${row}.account_id = ${BigInt(accountId)}`;
}
