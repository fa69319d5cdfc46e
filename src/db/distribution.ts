/**
 * The place of every table on a PostgreSQL that is distributed with Citus. `distribute.ts` applies it, and a test compares it with the tables
 * that the migrations create. A plain PostgreSQL ignores it.
 */
export type Placement = 'account' | 'reference' | 'local';

interface TableDistribution {
  /**
   * `account`: split by `account_id`, with all rows of an account on one node. `reference`: a full copy on every node. `local`: on the
   * coordinator only.
   */
  readonly placement: Placement;
  readonly reason: string;
}

const account = (reason: string): TableDistribution => ({ placement: 'account', reason });
const reference = (reason: string): TableDistribution => ({ placement: 'reference', reason });
const local = (reason: string): TableDistribution => ({ placement: 'local', reason });

/** Partitions have the place of their parent. */
export const DISTRIBUTION: Readonly<Record<string, TableDistribution>> = {
  schema_migration: local('Migrations run on the coordinator.'),
  schema_migration_lock: local('Migrations run on the coordinator.'),
  platform_key: local('Each process reads it once, when it starts.'),
  log_in_try: local('Who tries to log in is not known yet, and no statement joins it.'),

  organization: reference('It is the root of the foreign keys of accounts and users.'),
  organization_secret: reference('A secret is looked up before its account is known.'),
  organization_definition: reference('It belongs to all accounts of an organization.'),
  organization_transformation: reference('It belongs to all accounts of an organization.'),
  role_privileges: reference('It belongs to all accounts of an organization.'),
  connect_branding: reference('It belongs to all accounts of an organization.'),
  connect_origin: reference('It belongs to all accounts of an organization.'),
  account: reference('It is listed by organization, and rows of all accounts are joined with it.'),
  account_role: reference('Each authorization joins it with the users of the organization.'),
  app_user: reference('A user is looked up by secret or e-mail address, before the account is known.'),
  user_secret: reference('A secret is looked up before its account is known.'),
  user_role: reference('Users are found by role in all accounts of an organization.'),
  user_password: reference('A log-in looks it up by e-mail address, before the account is known.'),
  user_invitation: reference('Its key is looked up before the account is known.'),
  console_session: reference('Its cookie is looked up before the account is known.'),
  access_key: reference('Its secret is looked up before the account is known.'),
  access_key_secret: reference('Its hash is looked up before the account is known.'),
  connect_session: reference('Its key is looked up before the account is known.'),
  connect_authorization: reference('Its state is looked up before the account is known.'),
  oauth_proxy: reference('Its key is looked up before the account is known, and an organization may share it.'),
  oauth_proxy_target: reference('It is deleted with its proxy.'),
  formula: reference('Instances in other accounts of the organization use it.'),
  formula_version: reference('Instances in other accounts of the organization use it.'),
  event_owner: reference('Claims in each account join it with deliveries.'),

  account_definition: account('It belongs to one account.'),
  account_settings: account('It belongs to one account.'),
  account_transformation: account('It belongs to one account.'),
  activity: account('It belongs to one account, and is large.'),
  activity_wire: account('It belongs to one account, and is large.'),
  audit_log: account('It belongs to one account, and is large; a list for an organization reads all nodes.'),
  bulk_chunk: account('It belongs to one account, and is large.'),
  bulk_job: account('It belongs to one account.'),
  bulk_row_error: account('It belongs to one account, and is large.'),
  delivery: account('It belongs to one account, and changes often.'),
  delivery_attempt: account('It belongs to one account, and is large.'),
  endpoint: account('It belongs to one account.'),
  endpoint_rate: account('It belongs to one account, and changes often.'),
  event: account('It belongs to one account, and is large.'),
  event_key: account('It belongs to one account, and is large.'),
  formula_answer: account('It belongs to one account.'),
  formula_execution: account('It belongs to one account, and is large.'),
  formula_instance: account('It belongs to one account.'),
  formula_notice: account('It belongs to one account.'),
  formula_run: account('It belongs to one account, and changes often.'),
  formula_step: account('It belongs to one account, and is large.'),
  idempotency_record: account('It belongs to one account, and changes often.'),
  inactive_element: account('It belongs to one account.'),
  instance: account('It belongs to one account, and is the parent of most of its rows.'),
  instance_call: account('It belongs to one account, and changes often.'),
  notification: account('It belongs to one account.'),
  oauth_authorization: account('It belongs to one account.'),
  oauth_code: account('It belongs to one account.'),
  oauth_token: account('It belongs to one account, and changes often.'),
  poll: account('It belongs to one account, and changes often.'),
  poll_seen: account('It belongs to one account, and is large.'),
  rate_budget: account('It belongs to one account, and changes often.'),
  schema_change: account('It belongs to one account.'),
  schema_check: account('It belongs to one account, and changes often.'),
  schema_watch: account('It belongs to one account.'),
  subscription: account('It belongs to one account.'),
  usage_day: account('It belongs to one account.'),
  usage_hour: account('It belongs to one account.'),
  usage_minute: account('It belongs to one account.'),
  webhook_registration: account('It belongs to one account.'),
};
