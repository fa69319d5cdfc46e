import type { Metrics } from '../metrics.ts';

export type BulkMetrics = ReturnType<typeof createBulkMetrics>;

/** Creates the metrics of the workers of bulk jobs. */
export function createBulkMetrics(metrics: Metrics) {
  const turns = metrics.counter<'outcome'>({
    name: 'causeway_bulk_turns_total',
    help: 'Slices of bulk jobs, by outcome: completed, failed, waited (the rest of the rate limit of the provider is for callers), continued (the job waits for its next slice), lost (cancelled, stopped, or continued by another process).',
    labelNames: ['outcome'],
  });
  return {
    ended: (outcome: 'completed' | 'failed' | 'waited' | 'continued' | 'lost') => turns.inc({ outcome }),
  };
}
