/** Verifiers of authorizations are derived. Those that are open have random ones, and have to be begun again. */
export const STATEMENTS: readonly string[] = [
  'delete from oauth_authorization',
  `alter table oauth_authorization
    drop column verifier,
    add column seal bytea not null check (octet_length(seal) = 32),
    add column code_hashes bytea[] not null default '{}'`,
  'drop index oauth_authorization_newest',
  'create index oauth_authorization_open on oauth_authorization (account_id, user_id, element_key, created_at)',
  `comment on table oauth_authorization is
    'An authorization URL that was handed out. For 15 minutes it says what the URL was made with; codes need no more'`,
  `comment on column oauth_authorization.code_hashes is 'HMACs of the codes that were exchanged for it, or for another one that was open beside it'`,
  `comment on column oauth_authorization.seal is
    'HMAC of the settings and of whom they are for: they say where a client secret goes'`,

  `alter table instance add column refused_calls text[] not null default '{}'`,
  `comment on column instance.refused_calls is
    'What the provider refused while the instance is invalid, such as "list employees": only a success of one of these tells of good credentials'`,
];
