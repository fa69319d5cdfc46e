import type { Metrics } from '../metrics.ts';

/** The outcome of a check. */
export type CheckOutcome = 'same' | 'changed' | 'failed' | 'waited' | 'lost';

export type SchemaMetrics = ReturnType<typeof createSchemaMetrics>;

/** Creates the metrics of checks of watched objects. */
export function createSchemaMetrics(metrics: Metrics) {
  const checks = metrics.counter<'outcome'>({
    name: 'causeway_schema_checks_total',
    help: 'Checks of the watched objects of an instance, by outcome: same, changed, failed, waited (the rest of the rate limit of the provider is for callers), lost (the process stopped, or another process took over).',
    labelNames: ['outcome'],
  });
  const changes = metrics.counter({
    name: 'causeway_schema_changes_total',
    help: 'Changes of watched objects that were found and reported.',
  });
  const calls = metrics.counter({
    name: 'causeway_schema_provider_calls_total',
    help: 'Calls to providers that checks of watched objects made.',
  });
  return {
    ended: (
      outcome: CheckOutcome,
      { changes: found, providerCalls }: { readonly changes: number; readonly providerCalls: number },
    ) => {
      checks.inc({ outcome });
      changes.inc(found);
      calls.inc(providerCalls);
    },
  };
}
