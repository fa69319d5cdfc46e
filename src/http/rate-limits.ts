import { LRUCache } from 'lru-cache';
import type { Principal } from '../accounts/accounts.ts';
import { atMost } from '../bounded.ts';
import type { Clock } from '../clock.ts';
import type { ServiceConfig } from '../config/index.ts';
import { AppError, type CallerBudget } from '../errors.ts';

export interface BucketState extends CallerBudget {
  /** Seconds until there is a token again; 0 while there is one. */
  readonly retryAfterSeconds: number;
}

export interface TokenBuckets {
  /** How the bucket stands, without taking anything. */
  readonly look: (key: string) => BucketState;
  /** Takes a token where there is one. The state is the one after it. */
  readonly take: (key: string) => BucketState;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

const MINUTE_MS = 60_000;

/**
 * Buckets of a minute's tokens each, filled evenly. A bucket that has not been used for a minute is full, so forgetting
 * it changes nothing. One that is forgotten earlier, because so many others were used since, is as good as full: to
 * get there somebody spends more of other buckets than the one can give.
 * @param kept how many buckets are kept at most
 */
export function createTokenBuckets(
  clock: Clock,
  { perMinute, kept }: { readonly perMinute: number; readonly kept: number },
): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>(atMost(kept));
  const perMs = perMinute / MINUTE_MS;

  function tokensOf(key: string, atMs: number): number {
    const bucket = buckets.get(key);
    return bucket === undefined ? perMinute : Math.min(perMinute, bucket.tokens + (atMs - bucket.atMs) * perMs);
  }

  function stateOf(tokens: number): BucketState {
    return {
      limit: perMinute,
      remaining: Math.floor(tokens),
      resetSeconds: secondsFor(perMinute - tokens),
      retryAfterSeconds: secondsFor(1 - tokens),
    };
  }

  const secondsFor = (tokens: number) => Math.max(0, Math.ceil(tokens / perMs / 1000));

  return {
    look: (key) => stateOf(tokensOf(key, clock.steady())),
    take: (key) => {
      const atMs = clock.steady();
      const tokens = tokensOf(key, atMs);
      if (tokens < 1) return stateOf(tokens);
      buckets.set(key, { tokens: tokens - 1, atMs });
      return stateOf(tokens - 1);
    },
  };
}

export interface CallerLimits {
  /**
   * Counts a request of a known caller. A request that is refused counts for nobody.
   * @returns what is left to whom it bites first; undefined where nothing is limited
   * @throws AppError RATE_LIMITED
   */
  readonly count: (principal: Principal) => CallerBudget | undefined;
}

/** Callers, not guesses: every one of them has a row in the database. */
const KEPT_CALLERS = 100_000;

interface Limit {
  readonly whose: string;
  /** Undefined: any number. */
  readonly perMinute: number | undefined;
  readonly keyOf: (principal: Principal) => string;
}

/** How many requests one process takes of a user, and of all users of an account together. */
export function createCallerLimits(
  clock: Clock,
  { rateLimitUser, rateLimitAccount }: Pick<ServiceConfig, 'rateLimitUser' | 'rateLimitAccount'>,
): CallerLimits {
  const all: readonly Limit[] = [
    {
      whose: 'this user',
      perMinute: rateLimitUser,
      // Whichever account he works in.
      keyOf: ({ homeAccountId, userId }) => `${homeAccountId}:${userId}`,
    },
    { whose: 'this account', perMinute: rateLimitAccount, keyOf: ({ accountId }) => String(accountId) },
  ];
  const limits = all.flatMap(({ perMinute, ...limit }) =>
    perMinute === undefined
      ? []
      : [{ ...limit, buckets: createTokenBuckets(clock, { perMinute, kept: KEPT_CALLERS }) }],
  );
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
