import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import type { Clock } from '../clock.ts';
import type { RateLimitState } from '../connector/contract.ts';

/** Whose limit it is. */
interface Limited {
  readonly accountId: number;
  readonly id: number;
}

const MOST_KEPT = 50_000;
/** For a provider that does not tell when its limit is new. */
const UNTOLD_RESET_SECONDS = 60;

/** With the time until it is new. */
export type TimedRateLimit = RateLimitState & { readonly resetSeconds: number };

/** The share of a provider's rate limit that is left to callers. */
const CALLERS_SHARE = 0.25;

/** How many calls are left to what runs in the background, beside those of callers; infinitely many where nothing is known. */
export function callsBesideCallers({ limit, remaining }: RateLimitState = {}): number {
  if (limit === undefined || remaining === undefined) return Number.POSITIVE_INFINITY;
  return remaining - limit * CALLERS_SHARE;
}

/** How long what runs in the background waits, as what is left of the limit is callers'; undefined: not at all. */
export function waitForCallersMs(state: TimedRateLimit | undefined): number | undefined {
  if (callsBesideCallers(state) > 0) return undefined;
  return (state?.resetSeconds ?? 0) * 1000;
}

/** What providers told last of their limits, to whatever call of this process. It is forgotten when the limit is new. */
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

export type RateLimits = ReturnType<typeof createRateLimits>;
