import type { Knex } from 'knex';
import type { Clock } from '../clock.ts';
import type { Metrics } from '../metrics.ts';
import { createBacklogStore } from './executions/backlog-store.ts';
import type { EndStatus } from './executions/model.ts';

export type FormulaMetrics = ReturnType<typeof createFormulaMetrics>;

/** Creates the metrics of the engine of formulas. */
export function createFormulaMetrics({
  metrics,
  knex,
  clock,
}: {
  readonly metrics: Metrics;
  readonly knex: Knex;
  readonly clock: Pick<Clock, 'now'>;
}) {
  const store = createBacklogStore(knex);
  let countRunning = () => 0;
  const ended = metrics.counter<'status'>({
    name: 'causeway_formula_executions_ended_total',
    help: 'Executions of formulas that this process ended, by status: success, failed, retry (it runs again later), cancelled.',
    labelNames: ['status'],
  });
  metrics.gauge({
    name: 'causeway_formula_executions_running',
    help: 'Executions of formulas that this process runs.',
    collect: (gauge) => gauge.set(countRunning()),
  });
  metrics.gauge({
    name: 'causeway_formula_executions_waiting',
    help: 'Executions of formulas of all processes that are due and run nowhere, at most 10,000.',
    collect: async (gauge) => gauge.set(await store.countDue(new Date(clock.now()))),
  });
  metrics.gauge({
    name: 'causeway_formula_oldest_due_seconds',
    help: 'Delay of the oldest due execution of a formula of all processes.',
    collect: async (gauge) => {
      const due = await store.oldestDue(new Date(clock.now()));
      gauge.set(due === undefined ? 0 : Math.max(0, (clock.now() - due.getTime()) / 1000));
    },
  });
  return {
    ended: (status: EndStatus) => ended.inc({ status }),
    /** Sets how the executions of this process are counted. */
    observe: (count: () => number) => {
      countRunning = count;
    },
  };
}
