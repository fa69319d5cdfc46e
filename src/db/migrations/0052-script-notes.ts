/** Activity has what scripts of mappings wrote and why they failed. */
export const STATEMENTS: readonly string[] = [
  'alter table activity add column scripts json',
  `comment on column activity.scripts is
    'What scripts of mappings wrote to their console and why they failed, redacted and cut; null: nothing'`,
];
