import type { Knex } from 'knex';

/** The trace that an event was accepted in, so that its deliveries go on with it in any process. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table event add column traceparent text');
  await knex.raw(`comment on column event.traceparent is
    'W3C Trace Context of its acceptance; null where that was not recorded'`);
}
