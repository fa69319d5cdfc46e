import type { OAuthConnector } from '../fields.ts';

/** Decides when tokens are refreshed and retried. It works with durations only, so that it never compares two clocks. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** Tokens with a shorter lifetime are renewed on demand only. A job every minute would mostly renew unused tokens. */
const SHORT_LIFE_MS = 4 * MINUTE_MS;
const LEAST_AHEAD_MS = 2 * MINUTE_MS;
const MOST_AHEAD_MS = 10 * MINUTE_MS;
const AHEAD_SHARE = 0.1;
/** PostgreSQL's timestamps end somewhere; a provider's numbers need not. */
const LONGEST_LIFE_SECONDS = 10 * 365 * 24 * 3_600;

/** Lifetime of an access token, counted from its response. Null means until the provider rejects it. */
export interface Lifetime {
  readonly expiresInMs: number | null;
  readonly refreshInMs: number | null;
}

/** Returns how many milliseconds before its expiry a token with this lifetime is refreshed. */
export function planAheadMs(lifeMs: number): number {
  if (lifeMs < SHORT_LIFE_MS) return lifeMs / 2;
  return Math.min(MOST_AHEAD_MS, Math.max(LEAST_AHEAD_MS, lifeMs * AHEAD_SHARE));
}

/**
 * Tokens that are refreshed at most this many milliseconds ahead are short-lived. One millisecond covers PostgreSQL's
 * rounding.
 */
export const LONG_LIFE_AHEAD_MS = LEAST_AHEAD_MS - 1;

/**
 * Returns when a token expires and when it is refreshed.
 * @param expiresInSeconds lifetime from the response; undefined, 0 or less means that the token is valid until the provider rejects it
 */
export function planLifetime(expiresInSeconds: number | undefined, { renewable }: { renewable: boolean }): Lifetime {
  if (expiresInSeconds === undefined || !(expiresInSeconds > 0)) return { expiresInMs: null, refreshInMs: null };
  const lifeMs = Math.min(expiresInSeconds, LONGEST_LIFE_SECONDS) * SECOND_MS;
  return { expiresInMs: lifeMs, refreshInMs: renewable ? lifeMs - planAheadMs(lifeMs) : null };
}

/** Returns whether a new access token can be requested without a user. */
export function isRenewable(
  { auth }: OAuthConnector,
  { refreshToken }: { refreshToken?: string | undefined },
): boolean {
  return refreshToken !== undefined || auth.grant === 'clientCredentials';
}

/** Returns the lifetime of new tokens. */
export function planLifeOf(
  connector: OAuthConnector,
  tokens: { readonly refreshToken?: string | undefined; readonly expiresInSeconds?: number | undefined },
): Lifetime {
  const { expiresInSeconds = connector.auth.accessTokenSeconds } = tokens;
  return planLifetime(expiresInSeconds, { renewable: isRenewable(connector, tokens) });
}

/** Returns the rest of a lifetime after some milliseconds. */
export function shortenLifetime({ expiresInMs, refreshInMs }: Lifetime, byMs: number): Lifetime {
  return {
    expiresInMs: expiresInMs === null ? null : expiresInMs - byMs,
    refreshInMs: refreshInMs === null ? null : refreshInMs - byMs,
  };
}

const MOST_MARGIN_MS = 30 * SECOND_MS;

/**
 * Returns how many milliseconds before its expiry a token is no longer used, to allow for clock differences and
 * latency. Short-lived tokens have a smaller margin; otherwise they could never be used.
 */
export function planMarginMs({ expiresInMs, refreshInMs }: Lifetime): number {
  if (expiresInMs === null || refreshInMs === null) return 0;
  return Math.min(MOST_MARGIN_MS, (expiresInMs - refreshInMs) / 4);
}

const FIRST_BACKOFF_MS = SECOND_MS;
const MOST_BACKOFF_MS = 5 * MINUTE_MS;
const MOST_OBEYED_MS = 60 * MINUTE_MS;

/**
 * Returns the milliseconds before the next attempt. Half of them are jitter. A wait that the provider requests is respected, up to an hour.
 * @param failures number of failures, from 1
 */
export function planBackoffMs(random: () => number, failures: number, retryAfterMs = 0): number {
  const most = Math.min(MOST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
  return Math.max(most * (0.5 + random() / 2), Math.min(retryAfterMs, MOST_OBEYED_MS));
}
