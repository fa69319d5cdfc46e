import type { DeliverySettings, RetryCount } from '../model.ts';

/** Time from the first failure to the last retry: "a little under 9.5 h" (decision D7). */
const LAST_RETRY_SECONDS = 34_160;
const SHORTEST_INTERVAL_MS = 8_000;
const LARGEST_JITTER = 0.001;

export interface Schedule {
  /** Milliseconds from the first failure to retry x, at index x - 1. */
  readonly offsetsMs: readonly number[];
  /** Shortest time between two retries, in milliseconds, even if both are overdue. */
  readonly shortestIntervalMs: number;
}

/** Retry schedules of the contract for 5 and 9 retries: interval(x) = min(2^(3x) s, cap). */
export const SCHEDULES: Readonly<Record<RetryCount, Schedule>> = { 5: contractSchedule(5), 9: contractSchedule(9) };

function contractSchedule(count: number): Schedule {
  const cap = solveCap(count);
  let sum = 0;
  const offsetsMs = Array.from({ length: count }, (_, index) => {
    sum += Math.min(uncappedInterval(index + 1), cap);
    return sum * 1000;
  });
  return Object.freeze({ offsetsMs: Object.freeze(offsetsMs), shortestIntervalMs: SHORTEST_INTERVAL_MS });
}

function uncappedInterval(retry: number): number {
  return 2 ** (3 * retry);
}

/** The cap with which the intervals sum up to the contract's end: the first intervals grow freely, the others share the rest. */
function solveCap(count: number): number {
  let rest = LAST_RETRY_SECONDS;
  for (let free = 0; free < count; free++) {
    const cap = rest / (count - free);
    if (cap <= uncappedInterval(free + 1)) return cap;
    rest -= uncappedInterval(free + 1);
  }
  throw new RangeError(`${count} retries end before ${LAST_RETRY_SECONDS} s`);
}

interface RetryInput {
  readonly schedule: Schedule;
  /** Number of the next retry, from 1 to the last of the schedule. */
  readonly retry: number;
  readonly firstFailedAtMs: number;
  readonly nowMs: number;
  /** Delay in milliseconds that the receiver's `Retry-After` header requests, from now. */
  readonly retryAfterMs?: number | undefined;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
}

/**
 * Returns the time of a retry, in milliseconds since 1970. Times count from the first failure, so the durations of
 * attempts don't add up. Jitter and the receiver's `Retry-After` only delay a retry, and never so far that the
 * remaining retries miss the end of the schedule. After an outage of this service all times may be past; then retries
 * follow each other at the shortest interval.
 */
export function retryDueAt(input: RetryInput): number {
  const { schedule, retry, firstFailedAtMs, nowMs, retryAfterMs = 0, random } = input;
  const { offsetsMs, shortestIntervalMs } = schedule;
  const offsetMs = offsetsMs[retry - 1];
  const endMs = offsetsMs.at(-1);
  if (offsetMs === undefined || endMs === undefined) throw new RangeError(`The schedule has no retry ${retry}`);
  const intervalMs = offsetMs - (offsetsMs[retry - 2] ?? 0);
  const plannedAtMs = firstFailedAtMs + offsetMs + Math.floor(intervalMs * LARGEST_JITTER * random());
  const latestAtMs = firstFailedAtMs + endMs - (offsetsMs.length - retry) * shortestIntervalMs;
  const wantedAtMs = Math.min(Math.max(plannedAtMs, nowMs + retryAfterMs), latestAtMs);
  return Math.max(wantedAtMs, nowMs + shortestIntervalMs);
}

/** Progress of a delivery in its current schedule. */
export interface ScheduleProgress {
  /** Number of retries made. */
  readonly retries: number;
  /** Time of the first failure; undefined before the first attempt. */
  readonly firstFailedAtMs: number | undefined;
}

type AttemptResult =
  | { readonly delivered: true }
  | { readonly delivered: false; readonly retryAfterMs?: number | undefined };

export type Transition =
  | { readonly kind: 'delivered' }
  | ({ readonly kind: 'waiting'; readonly dueAtMs: number } & ScheduleProgress)
  /** Exhausted: the last retry failed, so the subscription is to be deactivated. */
  | ({ readonly kind: 'queued'; readonly exhausted: boolean } & ScheduleProgress);

interface TransitionInput {
  readonly progress: ScheduleProgress;
  readonly result: AttemptResult;
  readonly settings: DeliverySettings;
  readonly schedules: Readonly<Record<DeliverySettings['retryCount'], Schedule>>;
  readonly nowMs: number;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
}

/**
 * Returns the next state of a delivery after an attempt. Under the policy `queue` nothing is retried: a released
 * delivery that fails is queued again and its subscription stays active. The retry count is read at the moment of the
 * failure, so a lower one also ends longer schedules.
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

function afterFailure(progress: ScheduleProgress, nowMs: number) {
  const { retries, firstFailedAtMs } = progress;
  return firstFailedAtMs === undefined
    ? { retries: 0, firstFailedAtMs: nowMs }
    : { retries: retries + 1, firstFailedAtMs };
}
