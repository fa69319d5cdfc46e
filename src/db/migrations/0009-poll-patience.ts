/** How often pollers left a provider's limit to callers, and how often whole lists did not show what was seen. */
export const STATEMENTS: readonly string[] = [
  'alter table poll add column waits integer not null default 0',
  `comment on column poll.waits is 'Runs in a row that got no further, as what was left of the limit of the provider is left to callers'`,
  'alter table poll_seen add column missed smallint not null default 0',
  `comment on column poll_seen.missed is 'Whole lists in a row, each counted in another hour, that did not show the record'`,
];
