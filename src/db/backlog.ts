import type { Knex } from 'knex';
import type { Clock } from '../clock.ts';
import type { Metrics } from '../metrics.ts';

/** Rows that are counted at most, for each kind of work. */
const MOST_COUNTED = 10_000;

const UNLEASED = 'due <= :now and (lease_until is null or lease_until <= :now)';

/** The rows of each kind of work that are due and that no process works on. `:now` is a time. */
const DUE_ROWS = {
  // Ordered deliveries wait behind a failing one.
  deliveries: `delivery where state = 'waiting' and not ordered and due <= :now`,
  polls: `poll where ${UNLEASED}`,
  schemas: `schema_check where ${UNLEASED}`,
  formulas: `formula_run where ${UNLEASED}`,
  bulk: `bulk_job where ${UNLEASED}`,
} as const;

interface Backlog {
  readonly kind: string;
  readonly count: number;
  readonly oldestSeconds: number;
}

/** Adds the metrics of the work that waits in the database. */
export function measureBacklog({
  knex,
  metrics,
  clock,
}: {
  readonly knex: Knex;
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'now'>;
}): void {
  let reading: Promise<readonly Backlog[]> | undefined;
  // Both figures are collected at the same time, from one read.
  const read = () => {
    reading ??= readBacklog(knex, clock.now()).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  metrics.gauge<'kind'>({
    name: 'causeway_work_due',
    help: 'Due work of all processes that no process works on, by kind. At most 10,000 of each are counted.',
    labelNames: ['kind'],
    collect: async (gauge) => {
      for (const { kind, count } of await read()) gauge.set({ kind }, count);
    },
  });
  metrics.gauge<'kind'>({
    name: 'causeway_work_oldest_due_seconds',
    help: 'Delay of the oldest due work of all processes that no process works on, by kind.',
    labelNames: ['kind'],
    collect: async (gauge) => {
      for (const { kind, oldestSeconds } of await read()) gauge.set({ kind }, oldestSeconds);
    },
  });
}

function readBacklog(knex: Knex, nowMs: number): Promise<readonly Backlog[]> {
  const read = async ([kind, rows]: readonly [string, string]): Promise<Backlog> => {
    const { rows: found } = await knex.raw<{ rows: { readonly count: number; readonly due: Date | null }[] }>(
      `select count(*)::int as count, min(due) as due from (select due from ${rows} order by due limit :most) as waiting`,
      { now: new Date(nowMs), most: MOST_COUNTED },
    );
    const { count = 0, due = null } = found[0] ?? {};
    return { kind, count, oldestSeconds: due === null ? 0 : Math.max(0, (nowMs - due.getTime()) / 1000) };
  };
  return Promise.all(Object.entries(DUE_ROWS).map(read));
}
