import { AppError, pointer } from '../errors.ts';
import { reversedPeriod } from '../shared-errors.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface IntervalSpec {
  readonly ms: number;
  /** Number of days for which its counts are kept. */
  readonly keptDays: number;
  /** Number of intervals where no period is given. */
  readonly usual: number;
}

/** Intervals that usage is counted by, in UTC. Each one is a multiple of the previous one. */
export const INTERVALS = {
  minute: { ms: MINUTE_MS, keptDays: 2, usual: 60 },
  hour: { ms: HOUR_MS, keptDays: 60, usual: 24 },
  day: { ms: DAY_MS, keptDays: 800, usual: 30 },
} as const satisfies Readonly<Record<string, IntervalSpec>>;

export type Interval = keyof typeof INTERVALS;

/** Maximum number of points per response. */
const MOST_POINTS = 1_500;

/** Returns the beginning of the interval that contains the moment. UTC days always have 24 hours. */
export function startOf(interval: Interval, atMs: number): number {
  const { ms } = INTERVALS[interval];
  return Math.floor(atMs / ms) * ms;
}

export interface Period {
  readonly interval: Interval;
  /** Beginning of the first interval. */
  readonly fromMs: number;
  /** End of the last interval. */
  readonly toMs: number;
}

export interface AskedPeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval?: Interval | undefined;
}

/**
 * Returns the period as whole intervals. The first and the last one can be incomplete.
 * @throws AppError REQUEST_INVALID that says what is accepted
 */
export function readPeriod({ from, to, interval = 'hour' }: AskedPeriod, nowMs: number): Period {
  const { ms, usual, keptDays } = INTERVALS[interval];
  const endMs = to === undefined ? nowMs : readEnd(to);
  const fromMs = startOf(interval, from === undefined ? endMs - (usual - 1) * ms : readStart(from));
  const toMs = startOf(interval, endMs - 1) + ms;
  if (toMs <= fromMs) throw reversedPeriod(pointer('query', 'to'));
  const points = (toMs - fromMs) / ms;
  if (points > MOST_POINTS) {
    const longest = `${MOST_POINTS} ${interval}s`;
    const longer = interval === 'day' ? '' : ` or a longer interval than '${interval}'`;
    throw invalid('interval', `The period has ${points} ${interval}s. Request at most ${longest}${longer}.`);
  }
  if (from !== undefined && fromMs < startOf('day', nowMs) - keptDays * DAY_MS) {
    const message = `The service keeps counts by ${interval} for ${keptDays} days, and 'from' is earlier. Send a later 'from'`;
    throw invalid('from', interval === 'day' ? `${message}.` : `${message}, or a longer interval than '${interval}'.`);
  }
  return { interval, fromMs, toMs };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** RFC 3339. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/**
 * Reads the parameter `from`.
 * @throws AppError REQUEST_INVALID
 */
export function readStart(text: string): number {
  return readMoment('from', text);
}

/**
 * Reads the parameter `to`. A date stands for the end of its day.
 * @throws AppError REQUEST_INVALID
 */
export function readEnd(text: string): number {
  return readMoment('to', text) + (DAY.test(text) ? DAY_MS : 0);
}

function readMoment(parameter: string, text: string): number {
  const atMs = DAY.test(text) || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs) || (DAY.test(text) && new Date(atMs).toISOString().slice(0, 10) !== text)) {
    const expected = 'a day such as 2026-01-31 or an instant such as 2026-01-31T08:30:00Z';
    throw invalid(parameter, `query.${parameter} must be ${expected}.`);
  }
  return atMs;
}

function invalid(parameter: string, message: string): AppError {
  return new AppError('REQUEST_INVALID', message, { details: [{ path: `/query/${parameter}`, message }] });
}

/** Returns the beginnings of all intervals of a period. */
export function pointsOf({ interval, fromMs, toMs }: Period): readonly number[] {
  const { ms } = INTERVALS[interval];
  return Array.from({ length: (toMs - fromMs) / ms }, (_, index) => fromMs + index * ms);
}
