import type { Knex } from 'knex';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createKeyedSemaphore, createSemaphore } from './semaphore.ts';
import { isOutOfTime } from './unavailable.ts';

/** Runs one statement of a longer work when there is room for it. */
export type WorkStep = <Result>(statement: () => Promise<Result>) => Promise<Result>;

/**
 * Shares of the connection pool by kind of work. Listings and bulk changes together use at most half of the pool, so
 * queries for single rows always find a connection. Each account uses only a few connections at a time, so it cannot
 * block others.
 */
export interface PoolShares {
  /**
   * Runs a list or a count. It reads through `via`, whose statements end after 5 s each.
   * @throws AppError RATE_LIMITED when the account has too many of them; OVERLOADED when all accounts together have, or when it takes too
   * long
   */
  readonly list: <Result>(accountId: number, read: (via: Knex) => Promise<Result>) => Promise<Result>;
  /**
   * Runs a change of many rows. Each account has one at a time.
   * @throws AppError RATE_LIMITED, OVERLOADED
   */
  readonly bulk: <Result>(accountId: number, work: (step: WorkStep) => Promise<Result>) => Promise<Result>;
  /**
   * Looks up one row for an account, or for callers whose account is not known.
   * @throws AppError OVERLOADED
   */
  readonly lookUp: <Result>(who: number | 'stranger', query: () => Promise<Result>) => Promise<Result>;
}

interface PoolShareOptions {
  readonly knex: Knex;
  readonly poolSize: number;
  /** Time limit of one statement of a listing, in milliseconds. Default: 5,000. */
  readonly listingMs?: number;
  /** Maximum wait for a share of the pool, in milliseconds. Default: 10,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** Limits of one account. A waiting list holds no connection, and the queue is as long as an ordinary burst. */
const LISTINGS = { atOnce: 2, mostWaiting: 32 };
const BULK_CHANGES = { atOnce: 1, mostWaiting: 2 };
/**
 * Maximum number of waiting look-ups of one account, or of all unknown callers. Each takes a moment, so even a thousand do not wait long.
 */
const WAITING_LOOK_UPS = 1_000;
const LISTING_MS = 5_000;
const WAIT_MS = 10_000;

export function createPoolShares(options: PoolShareOptions): PoolShares {
  const { knex, poolSize, listingMs = LISTING_MS, waitMs = WAIT_MS } = options;
  const quarter = Math.max(1, Math.floor(poolSize / 4));
  const half = Math.max(1, Math.floor(poolSize / 2));
  const heavy = createSemaphore({ atOnce: half, waitMs, refuse: () => overloaded('Too many listings are under way.') });
  const steps = createSemaphore({
    atOnce: quarter,
    waitMs,
    refuse: () => overloaded('Too many changes are under way.'),
  });
  const listings = createKeyedSemaphore({ ...LISTINGS, refuse: () => tooMany('listings', LISTINGS) });
  const bulkChanges = createKeyedSemaphore({ ...BULK_CHANGES, refuse: () => tooMany('bulk changes', BULK_CHANGES) });
  const lookUps = createKeyedSemaphore({
    atOnce: quarter,
    mostWaiting: WAITING_LOOK_UPS,
    waitMs,
    refuse: () => overloaded('Too many callers are being authenticated.'),
  });

  async function readInTime<Result>(read: (via: Knex) => Promise<Result>): Promise<Result> {
    try {
      return await knex.transaction(
        async (via) => {
          await via.raw(`set local statement_timeout = ${listingMs}`);
          return read(via);
        },
        { readOnly: true },
      );
    } catch (cause) {
      if (!isOutOfTime(cause)) throw cause;
      const message = `The listing took longer than ${listingMs / 1000} s and was stopped. Narrow the filter.`;
      throw new AppError('OVERLOADED', message, { cause });
    }
  }

  const step: WorkStep = (statement) => steps.run(() => heavy.run(statement));

  return {
    list: (accountId, read) => listings.run(accountId, () => heavy.run(() => readInTime(read))),
    bulk: (accountId, work) => bulkChanges.run(accountId, () => work(step)),
    lookUp: (who, query) => lookUps.run(who, query),
  };
}

function tooMany(what: string, { atOnce, mostWaiting }: typeof LISTINGS): AppError {
  const message = `The account has ${atOnce + mostWaiting} ${what} under way or waiting. Send the next request when one of them has ended.`;
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: 1 });
}

function overloaded(message: string): AppError {
  return new AppError('OVERLOADED', `${message} Try again in a moment.`, { retryAfterSeconds: 1 });
}
