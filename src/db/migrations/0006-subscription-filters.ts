/** Which events a subscription wants; and those that were removed, whose URL may come back. */
export const STATEMENTS: readonly string[] = [
  `alter table subscription
    add column event_types text[] not null default '{*}' check (cardinality(event_types) > 0),
    add column deleted_at timestamptz`,
  `comment on column subscription.event_types is
    'Types of events that are stored for it; an asterisk as last part stands for any'`,
  `comment on column subscription.deleted_at is
    'Since then it is not shown, and deactivated; the first event or instance of its URL makes it anew under the same id'`,
];
