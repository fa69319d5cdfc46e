import type { Principal } from '../accounts/accounts.ts';
import { AppError, type Budget } from '../errors.ts';
import { type BucketState, createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

export interface CallerLimits {
  /**
   * Counts a request of a known caller. A request that is refused counts for nobody.
   * @returns what is left to whom it bites first; undefined where nothing is limited
   * @throws AppError RATE_LIMITED
   */
  readonly count: (principal: Principal) => Budget | undefined;
}

export interface CallerLimitsOptions {
  /** Requests per minute; undefined: any number. */
  readonly perUser: number | undefined;
  readonly perAccount: number | undefined;
  readonly nowMs: () => number;
}

/** Callers, not guesses: every one of them has a row in the database. */
const KEPT_BUCKETS = 100_000;

interface Limit {
  readonly whose: string;
  readonly buckets: TokenBuckets;
  readonly keyOf: (principal: Principal) => string;
}

/** How many requests one process takes of a user, and of all users of an account together. */
export function createCallerLimits({ perUser, perAccount, nowMs }: CallerLimitsOptions): CallerLimits {
  const bucketsOf = (perMinute: number) => createTokenBuckets({ perMinute, kept: KEPT_BUCKETS, nowMs });
  const limits: Limit[] = [];
  if (perUser !== undefined) {
    const keyOf = ({ accountId, userId }: Principal) => `${accountId}:${userId}`;
    limits.push({ whose: 'this user', buckets: bucketsOf(perUser), keyOf });
  }
  if (perAccount !== undefined) {
    const keyOf = ({ accountId }: Principal) => String(accountId);
    limits.push({ whose: 'this account', buckets: bucketsOf(perAccount), keyOf });
  }
  return {
    count: (principal) => {
      for (const { whose, buckets, keyOf } of limits) assertLeft(whose, buckets.look(keyOf(principal)));
      const budgets = limits.map(({ buckets, keyOf }) => buckets.take(keyOf(principal)));
      return budgets.toSorted((one, other) => one.remaining - other.remaining)[0];
    },
  };
}

/** @throws AppError RATE_LIMITED */
export function assertLeft(whose: string, budget: BucketState): void {
  if (budget.remaining > 0) return;
  const { limit, retryAfterSeconds } = budget;
  throw new AppError(
    'RATE_LIMITED',
    `Too many requests of ${whose}: ${limit} a minute are taken. Try again in ${inSeconds(retryAfterSeconds)}.`,
    { retryAfterSeconds, budget },
  );
}

export function inSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
