import { LRUCache } from 'lru-cache';
import type { Budget } from '../errors.ts';

export interface BucketState extends Budget {
  /** Seconds until there is a token again; 0 while there is one. */
  readonly retryAfterSeconds: number;
}

export interface TokenBuckets {
  /** How the bucket stands, without taking anything. */
  readonly look: (key: string) => BucketState;
  /** Takes a token where there is one. The state is the one after it. */
  readonly take: (key: string) => BucketState;
}

export interface TokenBucketsOptions {
  readonly perMinute: number;
  /** How many buckets are kept at most. */
  readonly kept: number;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
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
 */
export function createTokenBuckets({ perMinute, kept, nowMs }: TokenBucketsOptions): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>({ max: kept });
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
    look: (key) => stateOf(tokensOf(key, nowMs())),
    take: (key) => {
      const atMs = nowMs();
      const tokens = tokensOf(key, atMs);
      if (tokens < 1) return stateOf(tokens);
      buckets.set(key, { tokens: tokens - 1, atMs });
      return stateOf(tokens - 1);
    },
  };
}
