import type { DeliverySettings } from '../model.ts';
import { retryDueAt, type Schedule } from './schedule.ts';

/** What a delivery went through in its present schedule. */
export interface Progress {
  /** Retries made. */
  readonly retries: number;
  /** The original failure; undefined: the first attempt is still to come. */
  readonly firstFailedAtMs: number | undefined;
}

export type AttemptResult =
  | { readonly delivered: true }
  | { readonly delivered: false; readonly retryAfterMs?: number | undefined };

export type Transition =
  | { readonly kind: 'delivered' }
  | ({ readonly kind: 'waiting'; readonly dueAtMs: number } & Progress)
  /** Exhausted: the last retry failed, so the subscription is to be deactivated. */
  | ({ readonly kind: 'queued'; readonly exhausted: boolean } & Progress);

export interface TransitionInput {
  readonly progress: Progress;
  readonly result: AttemptResult;
  readonly settings: DeliverySettings;
  readonly schedules: Readonly<Record<DeliverySettings['retryCount'], Schedule>>;
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * What becomes of a delivery after an attempt. Under the policy `queue` nothing is retried: a released delivery that fails is queued again and
 * its subscription stays active. The retry count counts at the moment of the failure, so a lowered one ends longer schedules too.
 */
export function nextState(input: TransitionInput): Transition {
  const { progress, result, settings, schedules, nowMs, random } = input;
  if (result.delivered) return { kind: 'delivered' };
  const failed = afterFailure(progress, nowMs);
  if (settings.failurePolicy === 'queue') return { kind: 'queued', exhausted: false, ...failed };
  const schedule = schedules[settings.retryCount];
  if (failed.retries >= schedule.offsetsMs.length) return { kind: 'queued', exhausted: true, ...failed };
  const { firstFailedAtMs } = failed;
  const retry = failed.retries + 1;
  const dueAtMs = retryDueAt({ schedule, retry, firstFailedAtMs, nowMs, retryAfterMs: result.retryAfterMs, random });
  return { kind: 'waiting', dueAtMs, ...failed };
}

function afterFailure(progress: Progress, nowMs: number) {
  const { retries, firstFailedAtMs } = progress;
  return firstFailedAtMs === undefined
    ? { retries: 0, firstFailedAtMs: nowMs }
    : { retries: retries + 1, firstFailedAtMs };
}
