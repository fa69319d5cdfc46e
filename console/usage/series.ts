import { alongPoints, type ShownPeriod } from './range.ts';

/** Name of a colour variable of the design, without its hyphens. */
export type Colour = 'accent' | 'good' | 'warn' | 'busy' | 'bad' | 'soft';

/** A series of values, one for each point in time, that is drawn in one colour. */
export interface Series {
  readonly label: string;
  readonly colour: Colour;
  /** The values. Null where there is none. */
  readonly values: readonly (number | null)[];
}

const COLOURS: readonly Colour[] = ['accent', 'good', 'warn', 'busy', 'bad'];

/** A count at one time. */
export interface Counted {
  readonly timestamp: string;
  readonly name: string;
  readonly count: number;
}

/** Returns a series for each name, largest first. Names for which there is no colour left are summed up in one series. */
export function seriesOf(period: ShownPeriod, counted: readonly Counted[]): readonly Series[] {
  const byName = [...Map.groupBy(counted, ({ name }) => name)].sort(([, one], [, other]) => sumOf(other) - sumOf(one));
  const along = (entries: readonly Counted[]) => alongPoints(period, joined(entries), ({ count }) => count, 0);
  const named = byName
    .slice(0, COLOURS.length)
    .map(([label, entries], index): Series => ({ label, colour: COLOURS[index] ?? 'soft', values: along(entries) }));
  const rest = byName.slice(COLOURS.length);
  const others: Series = {
    label: `${rest.length} others`,
    colour: 'soft',
    values: along(rest.flatMap(([, entries]) => entries)),
  };
  return rest.length === 0 ? named : [...named, others];
}

function joined(entries: readonly Counted[]): readonly Omit<Counted, 'name'>[] {
  return [...Map.groupBy(entries, ({ timestamp }) => timestamp)].map(([timestamp, at]) => ({
    timestamp,
    count: sumOf(at),
  }));
}

function sumOf(entries: readonly Pick<Counted, 'count'>[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}

export function totalOf({ values }: Series): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
