/** Rows change often and live shortly: room on the page for the next version, and vacuum before it matters. */
const HOT =
  'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0';

/** Events, their deliveries and attempts, subscriptions, settings of accounts, operational notifications. */
export const STATEMENTS: readonly string[] = [
  `create table account_settings (
    account_id bigint primary key references account (id),
    settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
    updated_at timestamptz not null default now()
  )`,
  `comment on table account_settings is 'What an account set: only the keys that were ever given'`,

  `create table subscription (
    account_id bigint not null references account (id),
    id bigint generated always as identity,
    url text not null check (length(url) between 1 and 2048),
    state text not null default 'active' check (state in ('active', 'deactivated')),
    reason text,
    secrets text not null,
    state_changed_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (account_id, id),
    unique (account_id, url)
  )`,
  `create index subscription_key on subscription (split_part(secrets, '.', 2), account_id, id)`,
  `comment on table subscription is 'One callback URL of one account'`,
  `comment on column subscription.secrets is 'Ciphertext of a JSON array: signing secrets, the newest first, old ones with their end'`,

  `create table event (
    account_id bigint not null,
    id uuid not null,
    created_at timestamptz not null,
    instance_id bigint,
    type text not null,
    payload text not null,
    primary key (account_id, id, created_at)
  ) partition by range (created_at)`,
  'create table event_default partition of event default',
  `comment on table event is 'What was accepted; payload is the body as it is signed and sent. One partition a day (UTC)'`,
  `comment on table event_default is 'Takes what has no partition of its own, so that a late upkeep never loses an event'`,

  `create table event_key (
    account_id bigint not null,
    key_hash bytea not null check (octet_length(key_hash) = 32),
    created_at timestamptz not null default now(),
    primary key (account_id, key_hash)
  )`,
  'create index event_key_created_at on event_key (created_at)',
  `comment on table event_key is 'Keys by which a provider repeats an event: seen ones are dropped'`,

  `create table event_owner (
    id uuid primary key,
    started_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now()
  )`,
  `comment on table event_owner is 'Processes that hold deliveries in memory; one that is silent for 10 s has lost them'`,

  `create table delivery (
    account_id bigint not null,
    id bigint generated always as identity,
    subscription_id bigint not null,
    event_id uuid not null,
    event_at timestamptz not null,
    instance_id bigint,
    type text not null,
    state text not null check (state in ('delivering', 'waiting', 'queued')),
    attempts integer not null default 0,
    retries integer not null default 0,
    ordered boolean not null default false,
    due timestamptz,
    owner uuid,
    first_failed_at timestamptz,
    is_retry boolean not null generated always as (first_failed_at is not null) stored,
    last_error text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (account_id, id),
    check ((state = 'delivering') = (owner is not null)),
    check ((state = 'waiting') = (due is not null))
  ) with (${HOT})`,
  `create index delivery_waiting on delivery (subscription_id, ordered, is_retry, due, id) where state = 'waiting'`,
  `create index delivery_due on delivery (due) where state = 'waiting' and not ordered`,
  `create index delivery_ordered on delivery (subscription_id, id) where ordered and state <> 'queued'`,
  // One in flight for each ordered subscription, whatever two processes think they see.
  `create unique index delivery_ordered_in_flight on delivery (subscription_id) where ordered and state = 'delivering'`,
  `create index delivery_owner on delivery (owner) where state = 'delivering'`,
  `create index delivery_queued on delivery (account_id, subscription_id, id) where state = 'queued'`,
  `comment on table delivery is
    'Deliveries that are in flight, waiting or queued. Deleted when delivered: then delivery_attempt tells of it'`,
  `comment on column delivery.attempts is 'Made in all; fences outcomes together with owner'`,
  `comment on column delivery.retries is 'Used of the present schedule'`,
  `comment on column delivery.first_failed_at is 'The original failure of the present schedule'`,

  `create table delivery_attempt (
    account_id bigint not null,
    delivery_id bigint not null,
    attempt integer not null,
    attempted_at timestamptz not null,
    delivered boolean not null,
    duration_ms integer not null,
    status_code integer,
    error text,
    answer text,
    subscription_id bigint not null,
    event_id uuid not null,
    event_at timestamptz not null,
    instance_id bigint,
    type text not null,
    delivery_created_at timestamptz not null,
    primary key (account_id, delivery_id, attempt, attempted_at)
  ) partition by range (attempted_at)`,
  'create table delivery_attempt_default partition of delivery_attempt default',
  'create index delivery_attempt_delivered on delivery_attempt (account_id, delivery_id) where delivered',
  `comment on table delivery_attempt_default is 'Takes what has no partition of its own, so that a late upkeep never loses an attempt'`,
  `comment on table delivery_attempt is 'What was tried and what came of it; append-only, one partition a day (UTC)'`,

  `create table notification (
    account_id bigint not null references account (id),
    id bigint generated always as identity,
    type text not null,
    data jsonb not null,
    created_at timestamptz not null default now(),
    primary key (account_id, id)
  )`,
  'create index notification_created_at on notification (created_at)',
  `comment on table notification is 'Operational events of an account'`,
];
