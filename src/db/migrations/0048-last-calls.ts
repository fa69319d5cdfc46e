/** The last call on each instance and the last one that failed, so that lists show them and are ordered by them. */
export const STATEMENTS: readonly string[] = [
  `create table instance_call (
    account_id bigint not null,
    instance_id bigint not null,
    last_call_at timestamptz not null,
    last_error_at timestamptz,
    last_error_status smallint,
    last_error_code text,
    last_error_request_id uuid,
    primary key (account_id, instance_id),
    foreign key (account_id, instance_id) references instance (account_id, id) on delete cascade
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000)`,
  `comment on table instance_call is 'The last call on an instance and the last one that failed, written with the activity; no row: none yet'`,
];
