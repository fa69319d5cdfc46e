/** A code need not belong to an open authorization of the user who sends it, so codes that were exchanged are remembered by themselves. */
export const STATEMENTS: readonly string[] = [
  `create table oauth_code (
    account_id bigint not null references account (id),
    code_hash bytea not null check (octet_length(code_hash) = 32),
    created_at timestamptz not null default now(),
    primary key (account_id, code_hash)
  )`,
  'create index oauth_code_created_at on oauth_code (created_at)',
  `comment on table oauth_code is
    'Codes that were exchanged in the last 15 minutes. A second exchange makes strict providers revoke what they granted'`,
  `comment on column oauth_code.code_hash is 'HMAC of the element, client id, callback URL and code'`,

  `alter table oauth_authorization add column is_used boolean not null default false`,
  `update oauth_authorization set is_used = code_hashes <> '{}'`,
  'alter table oauth_authorization drop column code_hashes',
  `comment on column oauth_authorization.is_used is 'A code was exchanged for it, or for another one that was open beside it'`,
];
