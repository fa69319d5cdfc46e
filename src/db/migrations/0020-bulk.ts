import type { Knex } from 'knex';

/** Bulk jobs, and the files that they make. */
export async function up(knex: Knex): Promise<void> {
  for (const statement of STATEMENTS) await knex.raw(statement);
}

/** Rows change with every part of a file: room on the page for the next version. */
const HOT = 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000';

const STATEMENTS: readonly string[] = [
  `create table bulk_job (
    account_id bigint not null,
    id bigint generated always as identity,
    instance_id bigint not null,
    direction text not null check (direction in ('DOWNLOAD', 'UPLOAD')),
    status text not null default 'CREATED' check (status in ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
    object_name text not null,
    query jsonb not null check (jsonb_typeof(query) = 'object'),
    changed_before timestamptz,
    format text not null check (format in ('csv', 'jsonl')),
    file_name text,
    callback_url text,
    fields jsonb,
    walk_key text,
    position jsonb,
    record_count bigint not null default 0,
    failed_count bigint not null default 0,
    byte_count bigint not null default 0,
    provider_calls bigint not null default 0,
    estimated_total bigint,
    native_job text,
    code text,
    message text,
    due timestamptz,
    lease uuid,
    lease_until timestamptz,
    failures integer not null default 0,
    failing_since timestamptz,
    waits integer not null default 0,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    primary key (account_id, id),
    foreign key (account_id, instance_id) references instance (account_id, id) on delete cascade,
    check ((lease is null) = (lease_until is null)),
    check ((due is not null) = (status in ('CREATED', 'RUNNING')))
  ) with (${HOT})`,
  'create index bulk_job_due on bulk_job (due) where due is not null',
  'create index bulk_job_instance on bulk_job (account_id, instance_id, id)',
  'create index bulk_job_created_at on bulk_job (created_at)',
  `comment on table bulk_job is 'Rows of one object of an instance on their way into a file, or out of one'`,
  `comment on column bulk_job.query is 'As texts of the query language'`,
  `comment on column bulk_job.changed_before is 'What changed from then on the query leaves out; null: nothing'`,
  `comment on column bulk_job.fields is 'The columns of its file, with their types; null: it has not begun'`,
  `comment on column bulk_job.walk_key is 'What the position belongs to: with another one the job begins anew'`,
  `comment on column bulk_job.position is 'What comes next; null: it has not begun, or has ended'`,
  `comment on column bulk_job.native_job is 'The id of the job of the provider that finds the rows; null: they are read by pages'`,
  `comment on column bulk_job.byte_count is 'Of the file so far, as it is read'`,
  `comment on column bulk_job.due is 'When it is worked on next; null: it has ended'`,
  `comment on column bulk_job.lease is 'Fences what is stored for the job: whoever took it over has another one'`,
  `comment on column bulk_job.failing_since is 'Since when it got no further; null: it does'`,

  `create table bulk_chunk (
    account_id bigint not null,
    job_id bigint not null,
    job_created_at timestamptz not null,
    start_byte bigint not null check (start_byte >= 0),
    byte_count integer not null check (byte_count > 0),
    data bytea not null,
    primary key (account_id, job_id, start_byte, job_created_at)
  ) partition by range (job_created_at)`,
  // It is compressed already.
  'alter table bulk_chunk alter column data set storage external',
  'create table bulk_chunk_default partition of bulk_chunk default',
  `comment on table bulk_chunk is 'Parts of the files of jobs. All of a job are in the partition of the day (UTC) on which it was created'`,
  `comment on table bulk_chunk_default is 'Takes what has no partition of its own, so that a late upkeep never loses a part'`,
  `comment on column bulk_chunk.start_byte is 'Where in the file it begins'`,
  `comment on column bulk_chunk.data is 'Compressed with zstd'`,
];
