import type { Knex } from 'knex';
import { arrayLiteral } from '../../db/array-literal.ts';
import { firstOf } from '../../db/row.ts';
import type { BudgetKey } from './budget.ts';
import type { RateBudgetState } from './settle.ts';

/** The state of a budget, with the number of its changes. */
export interface StoredBudget extends BudgetKey {
  readonly version: number;
  readonly state: RateBudgetState;
}

/** The budgets that were found, and the database's time when they were read, in milliseconds since 1970. */
interface ReadBudgets {
  readonly now: number;
  readonly budgets: readonly StoredBudget[];
}

/** A new state of a budget. It is not stored if the version of the stored one is not `version - 1`. */
export interface ChangedBudget extends StoredBudget {
  /** When the state has no more meaning. */
  readonly expiresAt: number;
}

/** Stores budgets. A renewal takes one statement of each kind, for all budgets of a process. */
export interface BudgetStore {
  readonly read: (keys: readonly BudgetKey[]) => Promise<ReadBudgets>;
  /** @returns the budgets that were stored; another process changed the others meanwhile */
  readonly write: (changed: readonly ChangedBudget[]) => Promise<readonly BudgetKey[]>;
}

interface ReadRow {
  readonly now: number;
  readonly accountId: number | null;
  readonly id: number | null;
  readonly version: number | null;
  readonly state: RateBudgetState | null;
}

/** Creates the store of budgets. All times come from the database, so that the clocks of processes may differ. */
export function createBudgetStore(knex: Knex): BudgetStore & { readonly purge: (before: Date) => Promise<number> } {
  return {
    read: async (keys) => {
      const { rows } = await knex.raw<{ rows: ReadRow[] }>(READ, keysOf(keys));
      const budgets = rows.flatMap(({ accountId, id, version, state }) =>
        accountId === null || id === null || version === null || state === null
          ? []
          : [{ accountId, id, version, state }],
      );
      return { now: firstOf(rows).now, budgets };
    },

    write: async (changed) => {
      // The order prevents that two processes block each other.
      const ordered = changed.toSorted((a, b) => a.accountId - b.accountId || a.id - b.id);
      const { rows } = await knex.raw<{ rows: BudgetKey[] }>(WRITE, [
        ...keysOf(ordered),
        arrayLiteral(ordered.map(({ version }) => version)),
        arrayLiteral(ordered.map(({ state }) => JSON.stringify(state))),
        arrayLiteral(ordered.map(({ expiresAt }) => expiresAt)),
      ]);
      return rows;
    },

    /**
     * Deletes budgets that had no more meaning at the given time.
     * @returns number of deleted rows
     */
    purge: async (before) => knex('rate_budget').where('expires_at', '<', before).delete(),
  };
}

function keysOf(keys: readonly BudgetKey[]): [string, string] {
  return [arrayLiteral(keys.map(({ accountId }) => accountId)), arrayLiteral(keys.map(({ id }) => id))];
}

const READ = `
  with clock as materialized (select (extract(epoch from clock_timestamp()) * 1000)::float8 as now)
  select clock.now, b.account_id as "accountId", b.instance_id as id, b.version, b.state
  from clock left join (
    select b.* from unnest(?::bigint[], ?::bigint[]) as k(account_id, instance_id)
    join rate_budget b on b.account_id = k.account_id and b.instance_id = k.instance_id
  ) b on true`;

const WRITE = `
  insert into rate_budget as b (account_id, instance_id, version, state, expires_at)
  select account_id, instance_id, version, state::jsonb, to_timestamp(expires_at / 1000)
  from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::float8[])
    as given(account_id, instance_id, version, state, expires_at)
  on conflict (account_id, instance_id) do update set
    version = excluded.version, state = excluded.state, expires_at = excluded.expires_at
  where b.version = excluded.version - 1
  returning b.account_id as "accountId", b.instance_id as id`;
