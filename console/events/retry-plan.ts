import { SCHEDULES, type Schedule } from '../../src/events/push/schedule.ts';
import type { DeliveryAttempt } from '../api.ts';

export interface PlannedRetry {
  /** Number of the retry, from 1. */
  readonly retry: number;
  readonly atMs: number;
}

export interface RetryPlan {
  /** Number of retries in the schedule. */
  readonly count: number;
  /** The retries that are still to come: the first one at its stored time, the others as the schedule plans them. */
  readonly planned: readonly PlannedRetry[];
}

interface Failed {
  readonly attempts: readonly DeliveryAttempt[];
  /** The time at which the next attempt is due, in milliseconds since 1970. */
  readonly nextAttemptMs: number;
  readonly retryCount: keyof typeof SCHEDULES;
}

/** Plans the retries of a failed delivery that will be tried again. */
export function planRetries({ attempts, nextAttemptMs, retryCount }: Failed): RetryPlan {
  const schedule = SCHEDULES[retryCount];
  const { retry, failedAtMs } = findScheduleStep(attempts, nextAttemptMs, schedule);
  const later = schedule.offsetsMs.slice(retry).map((offsetMs, index) => ({
    retry: retry + 1 + index,
    // After the next retry, however late that is.
    atMs: Math.max(failedAtMs + offsetMs, nextAttemptMs + (index + 1) * schedule.shortestIntervalMs),
  }));
  return { count: schedule.offsetsMs.length, planned: [{ retry, atMs: nextAttemptMs }, ...later] };
}

interface ScheduleStep {
  /** Number of the next retry. */
  readonly retry: number;
  /** End of the attempt with which the schedule began, in milliseconds since 1970. */
  readonly failedAtMs: number;
}

/**
 * Finds the step of the schedule that a delivery has reached. A release restarts the schedule, so this searches for the attempt from which
 * the schedule leads to the due time of the next one.
 */
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
