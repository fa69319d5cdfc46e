import { LRUCache } from 'lru-cache';
import type { Principal } from '../accounts/accounts.ts';
import { atMost } from '../bounded.ts';
import type { Clock } from '../clock.ts';
import type { ServiceConfig } from '../config/index.ts';
import { AppError, type CallerBudget } from '../errors.ts';

export type TokenBuckets = ReturnType<typeof createTokenBuckets>;

interface Bucket {
  tokens: number;
  atMs: number;
}

interface BucketOptions {
  /** Owner of the counted requests, as error messages name it. */
  readonly whose: string;
  readonly perMinute: number;
  /** Maximum number of buckets in memory. */
  readonly kept: number;
}

const MINUTE_MS = 60_000;

/**
 * Creates token buckets that are filled evenly with the tokens of a minute. A bucket that was unused for a minute is full, so dropping it
 * changes nothing. A bucket that is dropped earlier, because many others were used, is treated as full. Causing that costs more of other
 * buckets than it saves.
 */
export function createTokenBuckets({ steady }: Pick<Clock, 'steady'>, { whose, perMinute, kept }: BucketOptions) {
  const buckets = new LRUCache<string, Bucket>(atMost(kept));
  const perMs = perMinute / MINUTE_MS;
  const secondsFor = (tokens: number) => Math.max(0, Math.ceil(tokens / perMs / 1000));
  const budgetOf = (tokens: number): CallerBudget => ({
    limit: perMinute,
    remaining: Math.floor(tokens),
    resetSeconds: secondsFor(perMinute - tokens),
  });

  function assertLeft(key: string, atMs = steady()): number {
    const bucket = buckets.get(key);
    const tokens = bucket === undefined ? perMinute : Math.min(perMinute, bucket.tokens + (atMs - bucket.atMs) * perMs);
    if (tokens >= 1) return tokens;
    const retryAfterSeconds = secondsFor(1 - tokens);
    throw new AppError(
      'RATE_LIMITED',
      `Too many requests of ${whose}: the limit is ${perMinute} a minute. Try again in ${inSeconds(retryAfterSeconds)}.`,
      { retryAfterSeconds, budget: budgetOf(tokens) },
    );
  }

  return {
    /**
     * Asserts that a token is left, without using it.
     * @throws AppError RATE_LIMITED
     */
    assertLeft,
    budgetOf,
    /**
     * Uses a token.
     * @returns the number of tokens that are left
     * @throws AppError RATE_LIMITED
     */
    take: (key: string): number => {
      const atMs = steady();
      const tokens = assertLeft(key, atMs) - 1;
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, { tokens, atMs });
      else {
        bucket.tokens = tokens;
        bucket.atMs = atMs;
      }
      return tokens;
    },
  };
}

export type CallerLimits = ReturnType<typeof createCallerLimits>;

/** Callers, not guesses: every one of them has a row in the database. */
const KEPT_CALLERS = 100_000;

/**
 * Creates the limits on requests per user, and on requests of all users of an account together. They apply per
 * process.
 */
export function createCallerLimits(
  clock: Clock,
  { rateLimitUser, rateLimitAccount }: Pick<ServiceConfig, 'rateLimitUser' | 'rateLimitAccount'>,
) {
  const bucketsOf = (whose: string, perMinute: number | undefined) =>
    perMinute === undefined ? undefined : createTokenBuckets(clock, { whose, perMinute, kept: KEPT_CALLERS });
  const users = bucketsOf('this user', rateLimitUser);
  const accounts = bucketsOf('this account', rateLimitAccount);
  return {
    /**
     * Counts a request of a known caller. A rejected request is not counted.
     * @returns a function that reads the remaining budget of the tightest limit; undefined where nothing is limited
     * @throws AppError RATE_LIMITED
     */
    count: ({ homeAccountId, userId, accountId }: Principal): (() => CallerBudget) | undefined => {
      // Whichever account the user works in.
      const user = `${homeAccountId}:${userId}`;
      users?.assertLeft(user);
      const ofAccount = accounts?.take(String(accountId));
      const ofUser = users?.take(user);
      if (ofUser === undefined && ofAccount === undefined) return undefined;
      // Most responses do not tell it.
      return () => {
        const budgets = [
          ofUser === undefined ? undefined : users?.budgetOf(ofUser),
          ofAccount === undefined ? undefined : accounts?.budgetOf(ofAccount),
        ].filter((budget) => budget !== undefined);
        return budgets.reduce((least, budget) => (budget.remaining < least.remaining ? budget : least));
      };
    },
  };
}

export function inSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}
