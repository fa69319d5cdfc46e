import { createBudget, type MovableClock } from '#connector/simulator';

/** Creates a limit of calls: of all in ten seconds, or of searches in one. HubSpot sends no Retry-After. */
export function createRates(clock: MovableClock, calls: number | undefined, windowMs = 10_000) {
  if (calls === undefined) return undefined;
  return createBudget({
    ...{ calls, windowMs, clock, sendsRetryAfter: false },
    headers: ({ left }) => ({
      'x-hubspot-ratelimit-max': String(calls),
      'x-hubspot-ratelimit-remaining': String(left),
      'x-hubspot-ratelimit-interval-milliseconds': String(windowMs),
    }),
  });
}
