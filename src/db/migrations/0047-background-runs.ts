/** Activity has a reason for what failed, and holds runs of polls and bulk jobs beside requests; pollers note since when they fail. */
export const STATEMENTS: readonly string[] = [
  `alter table activity add column reason text,
     add column kind text check (kind in ('poll', 'bulk')),
     add column events integer,
     alter column user_id drop not null`,
  `comment on table activity is
    'Requests of known callers, and runs of polls and bulk jobs, written behind their ends; one partition a day (UTC)'`,
  `comment on column activity.reason is 'Why the provider or its answer made it fail, redacted'`,
  `comment on column activity.kind is 'Of a run; null: a request'`,
  `comment on column activity.events is 'That a run of a poll made'`,
  `comment on column activity.user_id is 'Null for a poll, and for a bulk job whose user was not noted'`,

  'alter table poll add column failing_since timestamptz',
  `comment on column poll.failing_since is 'The third failure in a row, of which poll.failing told; null: it works, or has not failed so often'`,
];
