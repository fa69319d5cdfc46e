/** The rates of endpoints, which all processes share, and the mark of events whose filter could not be decided. */
export const STATEMENTS: readonly string[] = [
  `create table endpoint_rate (
    account_id bigint not null,
    subscription_id bigint not null,
    next_at timestamptz not null default now(),
    primary key (account_id, subscription_id),
    foreign key (account_id, subscription_id) references subscription (account_id, id) on delete cascade
  ) with (fillfactor = 50)`,
  `comment on table endpoint_rate is 'Of an endpoint with a rate: the times that processes have reserved for their pushes'`,
  `comment on column endpoint_rate.next_at is 'The first time that no process has reserved'`,
  `insert into endpoint_rate (account_id, subscription_id)
    select account_id, id from subscription where max_per_second is not null`,
  'alter table delivery_attempt add column unfiltered boolean not null default false',
  `comment on column delivery_attempt.unfiltered is 'Whether the filter of the endpoint could not be decided, so that a redelivery says so too'`,
];
