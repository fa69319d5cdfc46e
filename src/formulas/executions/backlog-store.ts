import type { Knex } from 'knex';

/** Executions that are counted at most. */
const MOST_COUNTED = 10_000;

/** The statements that measure the executions which wait. */
export function createBacklogStore(knex: Knex) {
  return {
    countDue: async (now: Date): Promise<number> => {
      const { rows } = await knex.raw<{ rows: { count: number }[] }>(
        `select count(*)::integer as count from (
           select 1 from formula_run where due <= ? and (lease_until is null or lease_until <= ?) limit ?) as waiting`,
        [now, now, MOST_COUNTED],
      );
      return rows[0]?.count ?? 0;
    },

    /** Returns the due time of the execution that waits longest. */
    oldestDue: async (now: Date): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: { due: Date }[] }>(
        `select due from formula_run where due <= ? and (lease_until is null or lease_until <= ?) order by due limit 1`,
        [now, now],
      );
      return rows[0]?.due;
    },
  };
}
