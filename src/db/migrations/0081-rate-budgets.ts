/** The rate limits of providers, which all processes share. */
export const STATEMENTS: readonly string[] = [
  `create table rate_budget (
    account_id bigint not null,
    instance_id bigint not null,
    version bigint not null,
    state jsonb not null,
    expires_at timestamptz not null,
    primary key (account_id, instance_id)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000)`,
  `comment on table rate_budget is 'Of an instance in use: the rate limit that the provider last reported, and the shares of processes. It has no foreign key, because one removed instance must not hinder the renewal of all others'`,
  `comment on column rate_budget.version is 'The number of changes, so that no process overwrites the change of another'`,
  `comment on column rate_budget.state is 'The report and the holders; times in milliseconds of the clock of the database'`,
  `comment on column rate_budget.expires_at is 'When no process has a share and the report has no more meaning'`,
];
