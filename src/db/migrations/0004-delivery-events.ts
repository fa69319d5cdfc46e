/** Deliveries are found by their event without reading all of the account. */
export const STATEMENTS: readonly string[] = [
  'create index delivery_event on delivery (account_id, event_id)',
  'create index delivery_attempt_event on delivery_attempt (account_id, event_id) where delivered',
];
