import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import type { Clock } from '../clock.ts';
import type { RateLimitState } from '../connector/contract.ts';

/** The instance that a rate limit belongs to. */
interface Limited {
  readonly accountId: number;
  readonly id: number;
}

const MOST_KEPT = 50_000;
/** The seconds until a rate limit is renewed, where the provider does not report them. */
const UNTOLD_RESET_SECONDS = 60;

/** A rate limit with the seconds until it is renewed. */
export type TimedRateLimit = RateLimitState & { readonly resetSeconds: number };

/** The share of a provider's rate limit that is left to callers. */
const CALLERS_SHARE = 0.25;

/** Returns how many calls background work may make without using the share of callers. Infinite where no limit is known. */
export function callsBesideCallers({ limit, remaining }: RateLimitState = {}): number {
  if (limit === undefined || remaining === undefined) return Number.POSITIVE_INFINITY;
  return remaining - limit * CALLERS_SHARE;
}

/**
 * Returns how many milliseconds background work must wait, because the rest of the limit belongs to callers. Undefined: it need not wait.
 */
export function waitForCallersMs(state: TimedRateLimit | undefined): number | undefined {
  if (callsBesideCallers(state) > 0) return undefined;
  return (state?.resetSeconds ?? 0) * 1000;
}

/** Creates a store of the rate limits that providers last reported to this process. A limit is dropped when it is renewed. */
export function createRateLimits(clock: Pick<Clock, 'steady'>) {
  const reported = new LRUCache<string, RateLimitState & { readonly resetAtMs: number }>(atMost(MOST_KEPT));
  const nameOf = ({ accountId, id }: Limited) => `${accountId}:${id}`;
  return {
    note: (instance: Limited, state: RateLimitState): void => {
      const { resetSeconds = UNTOLD_RESET_SECONDS } = state;
      reported.set(nameOf(instance), { ...state, resetAtMs: clock.steady() + resetSeconds * 1000 });
    },
    find: (instance: Limited): TimedRateLimit | undefined => {
      const state = reported.get(nameOf(instance));
      if (state === undefined) return undefined;
      const { resetAtMs, ...said } = state;
      const leftMs = resetAtMs - clock.steady();
      return leftMs > 0 ? { ...said, resetSeconds: Math.ceil(leftMs / 1000) } : undefined;
    },
  };
}

/** The rate limits that providers last reported to this process. */
export type RateLimits = ReturnType<typeof createRateLimits>;
