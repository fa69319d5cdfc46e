import type { Metrics } from '../../metrics.ts';
import type { BudgetMeasures } from './budget.ts';

/** Counts of budgets. */
export interface BudgetCounts extends BudgetMeasures {
  /** Counts renewals of shares. */
  readonly renewed: (outcome: 'renewed' | 'conflict' | 'failed', count: number) => void;
}

export const NO_COUNTS: BudgetCounts = {
  waited: () => undefined,
  unleased: () => undefined,
  overdrawn: () => undefined,
  renewed: () => undefined,
};

/** Creates the metrics of the budgets that processes share. */
export function createBudgetCounts(metrics: Metrics): BudgetCounts {
  const waits = metrics.counter<'work'>({
    name: 'causeway_rate_budget_waits_total',
    help: 'Calls to providers that waited for a share of the rate limit, by work: caller, background, formula.',
    labelNames: ['work'],
  });
  const unleased = metrics.counter<'work'>({
    name: 'causeway_rate_budget_unleased_total',
    help: 'Calls to providers that were sent before the process had a share of the rate limit, by work.',
    labelNames: ['work'],
  });
  const overdrafts = metrics.counter<'work'>({
    name: 'causeway_rate_budget_overdrafts_total',
    help: 'Calls to providers that were sent although the process had no share of the rate limit left, by work.',
    labelNames: ['work'],
  });
  const renewals = metrics.counter<'outcome'>({
    name: 'causeway_rate_budget_renewals_total',
    help: 'Renewals of shares of rate limits, by outcome: renewed, conflict (another process renewed at the same time; it is tried again), failed.',
    labelNames: ['outcome'],
  });
  return {
    waited: (work) => waits.inc({ work }),
    unleased: (work) => unleased.inc({ work }),
    overdrawn: (work) => overdrafts.inc({ work }),
    renewed: (outcome, count) => renewals.inc({ outcome }, count),
  };
}

/** Measures the budgets of which this process has a share. */
export function measureBudgets(
  countHeld: () => { readonly shared: number; readonly alone: number },
  metrics: Metrics,
): void {
  metrics.gauge({
    name: 'causeway_rate_budgets',
    help: 'Rate limits of instances of which this process has a share, by state: shared (other processes have one too), alone.',
    labelNames: ['state'],
    collect: (gauge) => {
      for (const [state, count] of Object.entries(countHeld())) gauge.set({ state }, count);
    },
  });
}
