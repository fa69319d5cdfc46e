import { matchesCodes } from '../status-codes.ts';
import type { Properties } from './properties.ts';

/** The retries of a request step. */
export interface RetryRule {
  /** Maximum number of retries; 0 without `retry`. */
  readonly attempts: number;
  readonly delayMs: number;
  /** Status codes that are retried. Undefined: 5xx, and requests without a response. */
  readonly codes: string | undefined;
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_DELAY_MS = 1_000;
const MOST_DELAY_MS = 60_000;

export function readRetryRule(properties: Properties): RetryRule {
  const codes = properties.filled('retryStatusCodes').trim();
  return {
    attempts: properties.flag('retry')
      ? properties.number('retryAttempts', { least: 1, most: 5, otherwise: DEFAULT_ATTEMPTS })
      : 0,
    delayMs: properties.number('retryDelay', { least: 0, most: MOST_DELAY_MS, otherwise: DEFAULT_DELAY_MS }),
    codes: codes === '' ? undefined : codes,
  };
}

/** @param status undefined: there was no response */
export function mayRetry(rule: RetryRule, status: number | undefined, retries: number): boolean {
  if (retries >= rule.attempts) return false;
  if (rule.codes === undefined) return status === undefined || status >= 500;
  return status !== undefined && matchesCodes(rule.codes, status);
}
