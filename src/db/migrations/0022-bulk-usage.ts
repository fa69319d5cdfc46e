/** Bulk jobs are counted beside calls, events and instances. */
export const STATEMENTS: readonly string[] = ['minute', 'hour', 'day'].map(
  (interval) =>
    `alter table usage_${interval} drop constraint usage_${interval}_metric_check,
       add constraint usage_${interval}_metric_check check (metric in ('call', 'event', 'instance', 'bulk_job'))`,
);
