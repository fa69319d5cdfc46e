import { boundWaitMs, readRetryAfterMs } from '../../retry-after.ts';

/** What the provider says about its budget for this caller. */
export interface RateLimitState {
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetSeconds?: number;
}

type Headers = Readonly<Record<string, string>>;

const NAMES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'].map((prefix) => ({
  limit: `${prefix}limit`,
  remaining: `${prefix}remaining`,
  reset: `${prefix}reset`,
}));

/** Reads `RateLimit-*` (draft-ietf-httpapi-ratelimit-headers-06), `X-RateLimit-*` and `X-Rate-Limit-*`. */
export function readRateLimit(headers: Headers, nowMs: number): RateLimitState | undefined {
  for (const names of NAMES) {
    const limit = readNumber(headers[names.limit]);
    const remaining = readNumber(headers[names.remaining]);
    const reset = readNumber(headers[names.reset]);
    if (limit === undefined && remaining === undefined && reset === undefined) continue;
    const resetSeconds = reset === undefined ? undefined : toSecondsFromNow(reset, nowMs);
    return judgeRateLimit({ limit, remaining, resetSeconds });
  }
  return undefined;
}

type Claims = { readonly [Name in keyof RateLimitState]?: number | undefined };

/** Budgets are counted by the month at most. */
const MAX_RESET_SECONDS = 31 * 24 * 3_600;

/** What a provider, or its connector, says is passed on where it can be true: whole numbers from 0 on that a caller can read. */
export function judgeRateLimit({ limit, remaining, resetSeconds }: Claims): RateLimitState {
  return {
    ...(isCount(limit) && { limit: Math.floor(limit) }),
    ...(isCount(remaining) && { remaining: Math.floor(remaining) }),
    ...(isCount(resetSeconds) && resetSeconds <= MAX_RESET_SECONDS && { resetSeconds: Math.ceil(resetSeconds) }),
  };
}

function isCount(value: number | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The first number: `100, 100;w=60` lists the policy behind it. */
function readNumber(text: string | undefined): number | undefined {
  const digits = text?.match(/^\s*(\d+(?:\.\d+)?)\s*(?:$|[,;])/)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const SMALLEST_EPOCH_SECONDS = 1e9;
const SMALLEST_EPOCH_MS = 1e12;

/** Providers write the reset as seconds to go, as seconds since 1970, or as milliseconds since 1970. */
function toSecondsFromNow(reset: number, nowMs: number): number {
  if (reset < SMALLEST_EPOCH_SECONDS) return Math.ceil(reset);
  const resetMs = reset < SMALLEST_EPOCH_MS ? reset * 1000 : reset;
  return Math.max(0, Math.ceil((resetMs - nowMs) / 1000));
}

/** What the provider asks for: its `Retry-After`, else the end of a used-up budget. At most a day. */
export function readWaitMs(headers: Headers, nowMs: number): number | undefined {
  return readRetryAfterMs(headers['retry-after'], nowMs) ?? boundWaitMs(readResetMs(headers, nowMs));
}

function readResetMs(headers: Headers, nowMs: number): number | undefined {
  const state = readRateLimit(headers, nowMs);
  return state?.remaining === 0 && state.resetSeconds !== undefined ? state.resetSeconds * 1000 : undefined;
}
