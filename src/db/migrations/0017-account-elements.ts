/** Elements that an account makes no instances of. */
export const STATEMENTS: readonly string[] = [
  `create table inactive_element (
    account_id bigint not null references account (id) on delete cascade,
    element_key text not null check (length(element_key) between 1 and 255),
    created_at timestamptz not null default now(),
    primary key (account_id, element_key)
  )`,
  `comment on table inactive_element is 'Elements that an account makes no new instances of; all others are active'`,
];
