import { SCHEDULES, type Schedule } from '../../src/events/push/schedule.ts';
import type { DeliveryAttempt } from '../api.ts';

export interface PlannedRetry {
  /** From 1. */
  readonly retry: number;
  readonly atMs: number;
}

export interface RetryPlan {
  /** Retries that the schedule has. */
  readonly count: number;
  /** Those to come: the first at the time that is stored, the others as the schedule has them. */
  readonly planned: readonly PlannedRetry[];
}

interface Failed {
  readonly attempts: readonly DeliveryAttempt[];
  /** When the next attempt is due. */
  readonly nextAttemptMs: number;
  readonly retryCount: keyof typeof SCHEDULES;
}

/** Plans the retries of a failed delivery that will be tried again. */
export function planRetries({ attempts, nextAttemptMs, retryCount }: Failed): RetryPlan {
  const schedule = SCHEDULES[retryCount];
  const { retry, failedAtMs } = findScheduleStep(attempts, nextAttemptMs, schedule);
  const later = schedule.offsetsMs.slice(retry).map((offsetMs, index) => ({
    retry: retry + 1 + index,
    // Behind the next one, however late that is.
    atMs: Math.max(failedAtMs + offsetMs, nextAttemptMs + (index + 1) * schedule.shortestIntervalMs),
  }));
  return { count: schedule.offsetsMs.length, planned: [{ retry, atMs: nextAttemptMs }, ...later] };
}

interface ScheduleStep {
  /** The retry that is next. */
  readonly retry: number;
  /** The original failure. */
  readonly failedAtMs: number;
}

/** A release begins the schedule anew, so it began with that attempt after which the next one is due when it is. */
function findScheduleStep(
  attempts: readonly DeliveryAttempt[],
  nextAttemptMs: number,
  { offsetsMs }: Schedule,
): ScheduleStep {
  const steps = attempts
    .slice(-offsetsMs.length)
    .map((attempt, index, { length }): ScheduleStep & { offMs: number } => {
      const retry = length - index;
      const failedAtMs = Date.parse(attempt.date) + attempt.durationMs;
      return { retry, failedAtMs, offMs: Math.abs(failedAtMs + (offsetsMs[retry - 1] ?? 0) - nextAttemptMs) };
    });
  return steps.reduce((best, each) => (each.offMs < best.offMs ? each : best), {
    retry: 1,
    failedAtMs: nextAttemptMs - (offsetsMs[0] ?? 0),
    offMs: Number.POSITIVE_INFINITY,
  });
}
