import type { Knex } from 'knex';

/** The audit log is read from the newest entry on: of an account by its primary key, of an organization or an instance by these. */
export async function up(knex: Knex): Promise<void> {
  for (const statement of STATEMENTS) await knex.raw(statement);
}

const STATEMENTS: readonly string[] = [
  'drop index audit_log_of_account',
  'drop index audit_log_of_organization',
  'create index audit_log_of_organization on audit_log (organization_id, at, request_id)',
  `create index audit_log_of_instance on audit_log (organization_id, instance_id, at, request_id)
    where instance_id is not null`,
  `comment on table audit_log_default is 'What came before its month had a partition'`,
];
