import { createBudget, type MovableClock } from '#connector/simulator';

const SECOND_MS = 1000;

/** Creates a limit of calls: of all in ten seconds, or of searches in one. HubSpot sends no Retry-After. */
export function createRates(clock: MovableClock, calls: number | undefined, windowMs = 10 * SECOND_MS) {
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

/** Creates the limit of searches. */
export function createSearchRates(clock: MovableClock, calls: number | undefined) {
  return createRates(clock, calls, SECOND_MS);
}

/** Returns whether a refusal comes from the limit of searches. */
export function isOfSearch(message: string): boolean {
  return message.includes(` ${SECOND_MS} ms`);
}
