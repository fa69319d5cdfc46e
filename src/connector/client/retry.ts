import type { ProviderRequest } from '../contract.ts';
import type { FailedCall } from './failure.ts';

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 200;
/** Longer waits are the caller's: it is told how long. */
const MAX_WAIT_MS = 5_000;

export interface RetrySituation {
  readonly failed: FailedCall;
  /** Retries already made. */
  readonly retries: number;
  readonly idempotent: boolean;
  /** Until the deadline of the call. */
  readonly remainingMs: number;
}

/** How long to wait before sending again; undefined: do not. Full jitter, or exactly what the provider asked for. */
export function planRetry(random: () => number, situation: RetrySituation): number | undefined {
  const { failed, retries, remainingMs } = situation;
  if (retries >= MAX_RETRIES || !mayResend(situation)) return undefined;
  const waitMs = failed.retryAfterMs ?? random() * FIRST_BACKOFF_MS * 2 ** retries;
  return waitMs <= MAX_WAIT_MS && waitMs < remainingMs ? waitMs : undefined;
}

function mayResend({ failed, idempotent }: RetrySituation): boolean {
  return failed.resend === 'always' || (failed.resend === 'ifIdempotent' && idempotent);
}

const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

export function isIdempotent(request: ProviderRequest): boolean {
  return request.idempotent ?? IDEMPOTENT_METHODS.has(request.method ?? 'GET');
}
