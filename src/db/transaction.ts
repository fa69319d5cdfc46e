import type { Knex } from 'knex';
import { arrayLiteral } from './array-literal.ts';

/** Does the work in the transaction that there is, or else in one of its own. */
export function inTransaction<Result>(knex: Knex, work: (via: Knex) => Promise<Result>): Promise<Result> {
  return knex.isTransaction ? work(knex) : knex.transaction(work);
}

/** Any numbers, the same in every process: they name the locks within the database. */
const TURNS = {
  'new bulk jobs of an account': 7_205_020,
  'new executions of a formula instance': 7_205_060,
  'new access keys of an account': 7_205_061,
  'requested watches of an instance': 7_205_062,
};

/**
 * Makes transactions that do the same for the same accounts or instances take turns: this waits until the others have ended. Call it once in
 * a transaction, with all ids. They are locked in one order, so that two transactions cannot block each other.
 */
export async function takeTurns(via: Knex, kind: keyof typeof TURNS, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await via.raw(
    `select pg_advisory_xact_lock(?, turn)
     from (select distinct hashint8(id) as turn from unnest(?::bigint[]) as of(id) order by turn) turns`,
    [TURNS[kind], arrayLiteral(ids)],
  );
}
