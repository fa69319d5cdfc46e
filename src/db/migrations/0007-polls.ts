/** Rows change with every poll: room on the page for the next version. */
const HOT = 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000';

/** Pollers of instances, and what they have made events of. */
export const STATEMENTS: readonly string[] = [
  'alter table instance add column polls_version bigint',
  `comment on column instance.polls_version is 'The version of settings that its pollers were made for; null: none yet'`,
  `create index instance_polls_outdated on instance (account_id, id) where polls_version is distinct from settings_version`,

  `create table poll (
    account_id bigint not null,
    instance_id bigint not null,
    resource text not null check (length(resource) between 1 and 200),
    settings_version bigint not null,
    interval_ms bigint not null check (interval_ms > 0),
    due timestamptz,
    lease uuid,
    lease_until timestamptz,
    kind text check (kind in ('window', 'snapshot', 'feed')),
    watermark timestamptz,
    feed_watermark timestamptz,
    last_run_at timestamptz,
    last_success_at timestamptz,
    last_error text,
    failures integer not null default 0,
    runs bigint not null default 0,
    empty_runs bigint not null default 0,
    provider_calls bigint not null default 0,
    events bigint not null default 0,
    created_at timestamptz not null default now(),
    primary key (account_id, instance_id, resource),
    foreign key (account_id, instance_id) references instance (account_id, id) on delete cascade,
    check ((lease is null) = (lease_until is null))
  ) with (${HOT})`,
  'create index poll_due on poll (due) where due is not null',
  `comment on table poll is 'One poller: what of one instance is asked for changes again and again'`,
  `comment on column poll.due is 'Null: stopped, as its instance is disabled or invalid, or has other settings by now'`,
  `comment on column poll.lease is 'Fences what the poller commits: whoever took it over has another one'`,
  `comment on column poll.kind is 'How it looks for changes; null: it has not run yet'`,
  `comment on column poll.watermark is 'By the time of the provider: what changed up to it is accepted, but for what becomes visible late'`,

  `create table poll_seen (
    account_id bigint not null,
    instance_id bigint not null,
    resource text not null,
    record_key bytea not null check (octet_length(record_key) = 16),
    version bytea not null check (octet_length(version) = 16),
    seen_at timestamptz not null,
    primary key (account_id, instance_id, resource, record_key, version),
    foreign key (account_id, instance_id, resource) references poll (account_id, instance_id, resource) on delete cascade
  )`,
  'create index poll_seen_at on poll_seen (account_id, instance_id, resource, seen_at)',
  `comment on table poll_seen is 'Versions of records that events were made of, or that were there before: kept as long as the poller may read them again'`,
  `comment on column poll_seen.record_key is 'The first half of the SHA-256 of the id'`,
];
