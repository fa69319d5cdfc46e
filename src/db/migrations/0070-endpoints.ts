/** Endpoints: subscriptions that are made by themselves, each with the events that it wants and the form in which it receives them. */
export const STATEMENTS: readonly string[] = [
  `alter table subscription
    add column is_endpoint boolean not null default false,
    add column max_per_second double precision check (max_per_second > 0)`,
  // Two endpoints may have the same URL, and differ in what they want.
  'alter table subscription drop constraint subscription_account_id_url_key',
  'create unique index subscription_url on subscription (account_id, url) where not is_endpoint',
  `comment on table subscription is 'One callback URL of one account, or one endpoint'`,
  `comment on column subscription.max_per_second is 'Deliveries that are sent per second at most; null for no limit'`,
  `create table endpoint (
    account_id bigint not null,
    subscription_id bigint not null,
    name text,
    choice json not null,
    secrets text,
    primary key (account_id, subscription_id),
    foreign key (account_id, subscription_id) references subscription (account_id, id) on delete cascade
  )`,
  `create index endpoint_key on endpoint (split_part(secrets, '.', 2), account_id, subscription_id)`,
  `comment on table endpoint is 'Of a subscription that was made by itself: which events it wants, and how they are sent'`,
  `comment on column endpoint.choice is 'Its members as the API has them, without secrets'`,
  `comment on column endpoint.secrets is 'Ciphertext of a JSON object: headers and authentication'`,
  'alter table delivery add column unfiltered boolean not null default false',
  `comment on column delivery.unfiltered is 'Whether the filter of its endpoint could not be decided, because the event had no record'`,
];
