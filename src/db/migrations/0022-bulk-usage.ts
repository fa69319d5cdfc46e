import type { Knex } from 'knex';

/** Bulk jobs are counted beside calls, events and instances. */
export async function up(knex: Knex): Promise<void> {
  for (const interval of ['minute', 'hour', 'day'])
    await knex.raw(
      `alter table usage_${interval} drop constraint usage_${interval}_metric_check,
         add constraint usage_${interval}_metric_check check (metric in ('call', 'event', 'instance', 'bulk_job'))`,
    );
}
