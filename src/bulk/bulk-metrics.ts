import type { Metrics } from '../metrics.ts';

export type BulkMetrics = ReturnType<typeof createBulkMetrics>;

/** Creates the metrics of the workers of bulk jobs. */
export function createBulkMetrics(metrics: Metrics) {
  const turns = metrics.counter<'outcome'>({
    name: 'causeway_bulk_turns_total',
    help: 'Turns that bulk jobs had, by outcome: completed, failed, waited (what is left of the limit of the provider is left to callers), continued (others had their turn), or lost to a cancellation, a stop or another process.',
    labelNames: ['outcome'],
  });
  return {
    ended: (outcome: 'completed' | 'failed' | 'waited' | 'continued' | 'lost') => turns.inc({ outcome }),
  };
}
