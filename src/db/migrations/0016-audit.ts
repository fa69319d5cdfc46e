/** The audit log is read from the newest entry on, each way along an index: of an account by the primary key, the others by these. */
export const STATEMENTS: readonly string[] = [
  'drop index audit_log_of_account',
  'drop index audit_log_of_organization',
  'create index audit_log_of_organization on audit_log (organization_id, at, request_id)',
  `create index audit_log_of_instance on audit_log (organization_id, instance_id, at, request_id)
    where instance_id is not null`,
  'alter table audit_log add column section text',
  `comment on column audit_log.section is 'The path that it stands under beside the one with all; null for none'`,
  `create index audit_log_section_of_organization on audit_log (organization_id, section, at, request_id)
    where section is not null`,
  `create index audit_log_section_of_account on audit_log (account_id, section, at, request_id) where section is not null`,
  `comment on table audit_log_default is 'What came before its month had a partition'`,
];
