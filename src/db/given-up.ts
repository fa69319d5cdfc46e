import { randomInt } from 'node:crypto';
import { SYSTEM_CLOCK, sleep } from '../clock.ts';
import { codeOf } from './violations.ts';

/**
 * What PostgreSQL ends a transaction with because of others: a deadlock, or an order of changes that it cannot allow. The same transaction can
 * succeed now: https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
const GIVEN_UP: ReadonlySet<string> = new Set(['40P01', '40001']);
/** Maximum number of times that work runs before its caller gets the error of the database. */
const MOST_RUNS = 6;
const LONGEST_PAUSE_MS = 100;

/**
 * Runs a whole transaction, again if the database ends it because of others. It must change nothing outside of the database, except what the
 * next run replaces. The pauses are random, so that two transactions that met don't meet again.
 */
export async function repeatGivenUp<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let runs = 1; ; runs++) {
    try {
      return await transaction();
    } catch (error) {
      if (runs === MOST_RUNS || !GIVEN_UP.has(codeOf(error))) throw error;
    }
    await sleep(SYSTEM_CLOCK, randomInt(LONGEST_PAUSE_MS));
  }
}
