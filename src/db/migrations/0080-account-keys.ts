/**
 * Unique indexes have the account, so that a database that is split by account can enforce them within one account.
 *
 * This gives up no rule. An id of `delivery.subscription_id` or `formula_instance` comes from one sequence of the whole database, so two
 * accounts never have the same one. The unique hashes of random secrets stay as they are: their tables are copied to every node as a whole.
 */
export const STATEMENTS: readonly string[] = [
  'drop index delivery_ordered_in_flight',
  `create unique index delivery_ordered_in_flight on delivery (account_id, subscription_id)
    where ordered and state = 'delivering'`,
  'alter table formula_instance drop constraint formula_instance_id_key',
  // Requests of an organization name a formula instance by its id alone.
  'create index formula_instance_by_id on formula_instance (id)',
];
