/** What an attempt sent, which record an event is about, and which reads are those of the console itself. */
export const STATEMENTS: readonly string[] = [
  'alter table delivery_attempt add column request_headers json',
  `comment on column delivery_attempt.request_headers is 'As they were sent, redacted; null: of a release that did not store them'`,

  'alter table event add column record json',
  `comment on column event.record is
    'The record that it is about: objectName, id, name; null: none, or of a release that did not note it'`,

  'alter table activity add column is_console_read boolean not null default false',
  `comment on column activity.is_console_read is
    'The console read it for itself; false as well for those of a release that did not tell them apart'`,

  ...['minute', 'hour', 'day'].map(
    (interval) =>
      `alter table usage_${interval} drop constraint usage_${interval}_metric_check,
         add constraint usage_${interval}_metric_check
           check (metric in ('call', 'console_read', 'event', 'instance', 'bulk_job'))`,
  ),
];
