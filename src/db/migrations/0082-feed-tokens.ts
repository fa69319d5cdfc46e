/** Positions of providers from which polls continue to read changes. */
export const STATEMENTS: readonly string[] = [
  'alter table poll add column feed_token text check (length(feed_token) between 1 and 4000)',
  'alter table poll add column feed_token_of bytea',
  'alter table poll add check ((feed_token is null) = (feed_token_of is null))',
  `comment on column poll.feed_token is 'The position behind the changes that were read, as the provider wrote it; null: it reports changes by their time, or nothing was read yet'`,
  `comment on column poll.feed_token_of is 'Hash of the configuration for which the provider gave the position'`,
];
