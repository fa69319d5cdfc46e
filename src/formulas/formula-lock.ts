import type { Knex } from 'knex';
import { isDistributed } from '../db/distributed.ts';

/** Any number, the same in every process: it names the locks within the database. */
const LOCK = 7_205_110;

/**
 * Waits for other transactions that lock a formula of a distributed database, until the end of this one. Every node has a copy of the formula
 * and locks it for itself, so two transactions could block each other.
 */
export async function awaitFormula(via: Knex, id: number): Promise<void> {
  if (await isDistributed(via)) await via.raw('select pg_advisory_xact_lock(?::int, hashint8(?::bigint))', [LOCK, id]);
}
