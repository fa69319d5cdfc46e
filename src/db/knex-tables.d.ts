import type { Tables as Columns } from '../../generated/tables.ts';

/** Names and types in the statements that knex builds are checked against what the migrations made. */
declare module 'knex/types/tables.js' {
  interface Tables extends Columns {}
}
