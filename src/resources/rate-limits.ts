import type { RateLimitState } from '../connector/contract.ts';

/** A rate limit with the seconds until it is renewed. */
export type TimedRateLimit = RateLimitState & { readonly resetSeconds: number };

/** The share of a provider's rate limit that is left to callers. */
export const CALLERS_SHARE = 0.25;

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
