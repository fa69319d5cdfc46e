/** Created formulas and ended executions are counted beside calls, events, instances and bulk jobs. */
export const STATEMENTS: readonly string[] = ['minute', 'hour', 'day'].map(
  (interval) =>
    `alter table usage_${interval} drop constraint usage_${interval}_metric_check,
       add constraint usage_${interval}_metric_check
         check (metric in ('call', 'console_read', 'event', 'instance', 'bulk_job', 'formula', 'formula_execution'))`,
);
