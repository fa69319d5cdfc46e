/** The same columns for each length of time, in a table of its own: they are kept for different times. */
const usage = (interval: 'minute' | 'hour' | 'day'): readonly string[] => [
  `create table usage_${interval} (
    account_id bigint not null,
    metric text not null check (metric in ('call', 'event', 'instance')),
    element_key text not null,
    at timestamptz not null,
    count bigint not null,
    client_errors bigint not null,
    server_errors bigint not null,
    total_us bigint not null,
    min_us bigint not null,
    max_us bigint not null,
    durations integer[] not null,
    primary key (account_id, metric, at, element_key)
  ) partition by range (at)`,
  `create table usage_${interval}_default partition of usage_${interval} default`,
  `comment on table usage_${interval}_default is 'Takes what has no partition of its own'`,
  `comment on table usage_${interval} is 'What an account did in each ${interval} (UTC), by element; an empty key stands for none'`,
  `comment on column usage_${interval}.durations is 'Calls by how long they took; bucket n holds what is below 100 us * 1.1 ^ n'`,
];

/** The requests to the service and their outcomes, counted by minute, hour and day; trace logging of instances. */
export const STATEMENTS: readonly string[] = [
  `alter table instance add column trace_logging_until timestamptz`,
  `comment on column instance.trace_logging_until is 'Until then headers and bodies of its calls to the provider are kept'`,

  `create table activity (
    account_id bigint not null,
    at timestamptz not null,
    request_id uuid not null,
    user_id bigint not null,
    instance_id bigint,
    duration_us bigint not null,
    rows integer,
    call_count integer not null,
    status smallint not null,
    cut boolean not null,
    method text not null,
    path text not null,
    operation text,
    element_key text,
    code text,
    pushdown text,
    address text,
    calls json,
    primary key (account_id, at, request_id)
  ) partition by range (at)`,
  'create table activity_default partition of activity default',
  'create index activity_of_instance on activity (account_id, instance_id, at, request_id) where instance_id is not null',
  // Failures are few: they are found without reading what went well.
  'create index activity_failed on activity (account_id, instance_id, at, request_id) where status >= 400',
  'create index activity_request_id on activity (request_id)',
  `comment on table activity is 'Requests of known callers, written behind their answers; one partition a day (UTC)'`,
  `comment on table activity_default is 'Takes what has no partition of its own, so that a late upkeep never loses a row'`,
  `comment on column activity.calls is
    'Of the requests to the provider the first: an array of [method, host, path, status or why there was none, microseconds, retries]'`,
  `comment on column activity.call_count is 'How many of them there were'`,

  `create table activity_wire (
    account_id bigint not null,
    at timestamptz not null,
    request_id uuid not null,
    messages json not null,
    primary key (account_id, at, request_id)
  ) partition by range (at)`,
  'create table activity_wire_default partition of activity_wire default',
  `comment on table activity_wire_default is 'Takes what has no partition of its own'`,
  `comment on table activity_wire is 'What trace logging kept of a request, redacted: for each of activity.calls its headers and bodies, or null'`,

  ...(['minute', 'hour', 'day'] as const).flatMap(usage),
];
