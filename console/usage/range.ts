import type { Schemas } from '../api.ts';

type Interval = Schemas['UsageInterval'];

/** The length of a chart: a number of intervals, each of which is one point. */
export interface Range {
  readonly title: string;
  readonly interval: Interval;
  readonly count: number;
}

const DAY: Range = { title: 'Day', interval: 'hour', count: 24 };

/** The ranges that a user can choose, by their names in the address. */
export const RANGES: ReadonlyMap<string, Range> = new Map(
  Object.entries({
    hour: { title: 'Hour', interval: 'minute', count: 60 },
    day: DAY,
    week: { title: 'Week', interval: 'hour', count: 168 },
    month: { title: 'Month', interval: 'day', count: 30 },
  }),
);

/** Returns the range of a name in the address. The default is a day. */
export function rangeOf(name: string | undefined): Range {
  return RANGES.get(name ?? '') ?? DAY;
}

const MS: Readonly<Record<Interval, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** A period that ends now, as parameters of the API and as points of a chart. */
export interface ShownPeriod {
  readonly query: { readonly from: string; readonly to: string; readonly interval: Interval };
  /** Beginnings of the intervals in milliseconds since 1970. The last interval has not ended yet. */
  readonly points: readonly number[];
}

export function periodOf({ interval, count }: Range, nowMs: number): ShownPeriod {
  const ms = MS[interval];
  const last = Math.floor(nowMs / ms) * ms;
  const points = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * ms);
  const [first = last] = points;
  return { query: { from: toTime(first), to: toTime(last + ms), interval }, points };
}

interface At {
  readonly timestamp: string;
}

/** Returns the number for each point of a period: that of the entry with its time, or `none` if there is no entry. */
export function alongPoints<Entry extends At, None>(
  { points }: ShownPeriod,
  entries: readonly Entry[],
  numberOf: (entry: Entry) => number,
  none: None,
): readonly (number | None)[] {
  const known = new Map(entries.map((entry) => [Date.parse(entry.timestamp), numberOf(entry)]));
  return points.map((atMs) => known.get(atMs) ?? none);
}

function toTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
