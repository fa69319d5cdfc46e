/** Registrations of webhooks at providers, with the faults that prevent them, and events by their instance. */
export const STATEMENTS: readonly string[] = [
  `create table webhook_registration (
    account_id bigint not null,
    instance_id bigint not null,
    version bigint not null default 1,
    provider_id text,
    url text,
    base_url text,
    secret text,
    renew_at timestamptz,
    due timestamptz default now(),
    failures integer not null default 0,
    lease_until timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (account_id, instance_id),
    foreign key (account_id, instance_id) references instance (account_id, id) on delete cascade,
    check ((provider_id is null) = (url is null))
  )`,
  'create index webhook_registration_due on webhook_registration (due) where due is not null',
  `create index webhook_registration_key on webhook_registration (split_part(secret, '.', 2), account_id, instance_id)
    where secret is not null`,
  `comment on table webhook_registration is 'What a provider was told so that it sends the events of an instance here, or is to be told'`,
  `comment on column webhook_registration.version is 'Grows with every change of the instance that may ask for another registration'`,
  `comment on column webhook_registration.provider_id is 'Under which the provider has it; null while there is none'`,
  `comment on column webhook_registration.base_url is 'Of the provider that was told: another company there is told anew'`,
  `comment on column webhook_registration.secret is 'Ciphertext: what the provider signs with, where it told it'`,
  `comment on column webhook_registration.due is 'When to look at it again; null: only after a change'`,

  'alter table instance add column event_warning text',
  `comment on column instance.event_warning is 'Why events of the provider do not come, for people'`,

  'create index event_of_instance on event (account_id, instance_id, id) where instance_id is not null',
];
