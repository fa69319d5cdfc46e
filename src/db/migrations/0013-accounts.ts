/** What is left of accounts that were deleted. */
export const STATEMENTS: readonly string[] = [
  'alter table account add column removal_due timestamptz',
  'create index account_removal_due on account (removal_due) where removal_due is not null',
  `comment on column account.removal_due is
    'When a worker looks again for what is left of the deleted account, and who has it now has it until then; null: nothing is left, or it is not deleted'`,
];
