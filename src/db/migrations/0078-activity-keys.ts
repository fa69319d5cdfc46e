/** Activity has the access key of a request. Its name is kept here, because a key can be deleted. */
export const STATEMENTS: readonly string[] = [
  'alter table activity add column key_id bigint',
  'alter table activity add column key_name text',
  `comment on column activity.key_id is 'The access key of the request; null: another credential'`,
];
