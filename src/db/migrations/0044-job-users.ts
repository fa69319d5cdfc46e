/** A bulk job acts for the user who started it. */
export const STATEMENTS: readonly string[] = [
  'alter table bulk_job add column user_id bigint',
  `comment on column bulk_job.user_id is
    'Who started it, of any account of the organization: it goes on only while this user may; null: of a release that did not note it'`,
];
