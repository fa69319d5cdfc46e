/** Polls of mapped objects stop while nothing maps their object. */
export const STATEMENTS: readonly string[] = [
  'alter table poll add column mapped_object text, add column awaits_mapping boolean not null default false',
  `comment on column poll.mapped_object is 'The mapped object whose records were read last; null: the object was not mapped'`,
  `comment on column poll.awaits_mapping is
    'It is stopped because nothing maps mapped_object any more, and is due again when something does'`,
  'update poll set mapped_object = resource where mapping_version is not null',
  'create index poll_awaits_mapping on poll (account_id, instance_id, resource) where awaits_mapping',
];
