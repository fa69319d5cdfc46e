import { ApiError, BulkJobError, NetworkError, ProviderError, RateLimitedError, TimeoutError } from '@causeway/client';
import { CommanderError } from 'commander';
import { NotReadyError, UnreachableError, UsageError } from './failures.js';

/** The exit codes that scripts can rely on. The README lists them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  provider: 5,
  notReached: 6,
  later: 7,
  interrupted: 130,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  REQUEST_INVALID: EXIT.usage,
  WHERE_SYNTAX: EXIT.usage,
  WHERE_INVALID: EXIT.usage,
  WHERE_UNSUPPORTED: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  UNAUTHENTICATED: EXIT.notAllowed,
  FORBIDDEN: EXIT.notAllowed,
  OVERLOADED: EXIT.later,
};

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof NotReadyError) return EXIT.notAllowed;
  if (error instanceof RateLimitedError) return EXIT.later;
  if (error instanceof ProviderError) return EXIT.provider;
  if (error instanceof NetworkError || error instanceof TimeoutError || error instanceof UnreachableError)
    return EXIT.notReached;
  if (error instanceof BulkJobError) return BY_CODE[error.job.code ?? ''] ?? EXIT.failure;
  return error instanceof ApiError ? (BY_CODE[error.code] ?? EXIT.failure) : EXIT.failure;
}
