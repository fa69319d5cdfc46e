import type { Knex } from 'knex';
import type { Metrics } from '../metrics.ts';

/** The pool of knex (tarn). */
interface Pool {
  readonly numUsed: () => number;
  readonly numFree: () => number;
  readonly numPendingAcquires: () => number;
}

const COUNTS: Readonly<Record<string, (pool: Pool) => number>> = {
  used: (pool) => pool.numUsed(),
  free: (pool) => pool.numFree(),
  // Work that waits for a connection: above zero for long, the pool is too small or the database too slow.
  waiting: (pool) => pool.numPendingAcquires(),
};

export function measurePool(knex: Knex, metrics: Metrics): void {
  metrics.gauge({
    name: 'causeway_database_connections',
    help: 'Connections of the pool to PostgreSQL, by state; waiting counts the pending requests for a connection.',
    labelNames: ['state'],
    collect: (gauge) => {
      const pool: Pool | undefined = knex.client.pool;
      if (pool === undefined) return;
      for (const [state, count] of Object.entries(COUNTS)) gauge.set({ state }, count(pool));
    },
  });
}
