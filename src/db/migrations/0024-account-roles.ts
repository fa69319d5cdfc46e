/** Roles that every user of an account has beside his own. */
export const STATEMENTS: readonly string[] = [
  `create table account_role (
    account_id bigint not null references account (id),
    role text not null check (role in ('admin', 'default-user')),
    created_at timestamptz not null default now(),
    primary key (account_id, role)
  )`,
  `comment on table account_role is 'Which roles every user of an account has beside those in user_role'`,
];
