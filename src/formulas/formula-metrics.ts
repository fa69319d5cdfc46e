import type { Metrics } from '../metrics.ts';
import type { EndStatus } from './executions/model.ts';

export type FormulaMetrics = ReturnType<typeof createFormulaMetrics>;

/** Creates the metrics of the engine of formulas. */
export function createFormulaMetrics(metrics: Metrics) {
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
  return {
    ended: (status: EndStatus) => ended.inc({ status }),
    /** Sets how the executions of this process are counted. */
    observe: (count: () => number) => {
      countRunning = count;
    },
  };
}
