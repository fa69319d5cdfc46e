import { addDurations, countDuration } from './durations.ts';
import { INTERVALS, type Interval, startOf } from './intervals.ts';

/**
 * Metrics that are counted: API calls, reads that the console makes for itself, accepted events, created instances,
 * ended bulk jobs, created formulas, and ended executions of formulas.
 */
export type CountedMetric =
  | 'call'
  | 'console_read'
  | 'event'
  | 'instance'
  | 'bulk_job'
  | 'formula'
  | 'formula_execution';

/** Counts of an account and element in one interval. */
export interface Tally {
  readonly accountId: number;
  readonly metric: CountedMetric;
  /** Key of the element; empty without an element. */
  readonly elementKey: string;
  readonly atMs: number;
  readonly count: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly totalUs: number;
  readonly minUs: number;
  readonly maxUs: number;
  readonly durations: readonly number[];
}

type Growing = { -readonly [Name in keyof Tally]: Tally[Name] } & { durations: number[] };

type Key = Pick<Tally, 'accountId' | 'metric' | 'elementKey' | 'atMs'>;

/** One call of the API, as it is counted. */
interface CountedCall {
  readonly accountId: number;
  readonly elementKey: string | undefined;
  readonly atMs: number;
  readonly status: number;
  readonly durationUs: number;
  readonly isConsoleRead: boolean;
}

export type Tallies = ReturnType<typeof createTallies>;

/** Creates tallies that count by minute. */
export function createTallies() {
  const minutes = new Map<string, Growing>();

  return {
    size: () => minutes.size,
    addCall: ({ accountId, elementKey = '', atMs, status, durationUs, isConsoleRead }: CountedCall): void => {
      const metric = isConsoleRead ? 'console_read' : 'call';
      const tally = grow(minutes, { accountId, metric, elementKey, atMs: startOf('minute', atMs) });
      tally.minUs = tally.count === 0 ? durationUs : Math.min(tally.minUs, durationUs);
      tally.maxUs = Math.max(tally.maxUs, durationUs);
      tally.totalUs += durationUs;
      tally.count++;
      if (status >= 500) tally.serverErrors++;
      else if (status >= 400) tally.clientErrors++;
      countDuration(tally.durations, durationUs);
    },
    add: ({ count, ...key }: Key & { readonly count: number }): void => {
      grow(minutes, { ...key, atMs: startOf('minute', key.atMs) }).count += count;
    },
    /** Returns the counts of whole minutes, hours or days, always in the same order, so that concurrent writes never block each other. */
    of: (interval: Interval): readonly Tally[] => mergeTallies(minutes.values(), interval).sort(inOrder),
  };
}

/** Sums the counts of shorter intervals to those of a longer one. */
export function mergeTallies(tallies: Iterable<Tally>, interval: Interval): Tally[] {
  const merged = new Map<string, Growing>();
  for (const tally of tallies) addTally(grow(merged, { ...tally, atMs: startOf(interval, tally.atMs) }), tally);
  return [...merged.values()];
}

function addTally(sum: Growing, tally: Tally): void {
  sum.minUs = sum.count === 0 ? tally.minUs : Math.min(sum.minUs, tally.minUs);
  sum.maxUs = Math.max(sum.maxUs, tally.maxUs);
  sum.count += tally.count;
  sum.clientErrors += tally.clientErrors;
  sum.serverErrors += tally.serverErrors;
  sum.totalUs += tally.totalUs;
  addDurations(sum.durations, tally.durations);
}

function grow(tallies: Map<string, Growing>, { accountId, metric, elementKey, atMs }: Key): Growing {
  const key = `${accountId} ${metric} ${atMs} ${elementKey}`;
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = {
      accountId,
      metric,
      elementKey,
      atMs,
      count: 0,
      clientErrors: 0,
      serverErrors: 0,
      totalUs: 0,
      minUs: 0,
      maxUs: 0,
      durations: [],
    };
    tallies.set(key, tally);
  }
  return tally;
}

function inOrder(one: Tally, other: Tally): number {
  return (
    one.accountId - other.accountId ||
    one.atMs - other.atMs ||
    compare(one.metric, other.metric) ||
    compare(one.elementKey, other.elementKey)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

export const LONGEST_FIRST: readonly Interval[] = (Object.keys(INTERVALS) as Interval[]).reverse();
