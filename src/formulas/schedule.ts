import { Cron } from 'croner';

/** The times of a cron expression. */
interface CronSchedule {
  /** Returns the first time after a moment. Undefined: there is none any more. */
  readonly nextAfter: (after: Date) => Date | undefined;
  /** Milliseconds between the two firings that are closest to each other; infinite for a schedule that fires once a day or less. */
  readonly shortestMs: number;
}

/** A text that is no cron expression. The message continues a sentence that names the text. */
class CronError extends Error {
  override readonly name = 'CronError';
}

const LONGEST_CRON = 200;
const SECOND_MS = 1_000;
const DAY_SECONDS = 86_400;
/** Days that are looked at to find two in a row. */
const MOST_DAYS = 400;
const EPOCH = new Date(0);

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const SECONDS: Field = { name: 'seconds', min: 0, max: 59 };
const MINUTES: Field = { name: 'minutes', min: 0, max: 59 };
const HOURS: Field = { name: 'hours', min: 0, max: 23 };
const DAYS_OF_MONTH: Field = { name: 'day of month', min: 1, max: 31 };
const MONTHS_OF_YEAR: Field = { name: 'month', min: 1, max: 12, names: MONTHS };
/** Quartz counts from Sunday, which is 1. */
const QUARTZ_WEEKDAYS: Field = { name: 'day of week', min: 1, max: 7, names: DAYS };
/** Cron counts from Sunday, which is 0, and also 7. */
const CRON_WEEKDAYS: Field = { name: 'day of week', min: 0, max: 7, names: DAYS };
const YEARS: Field = { name: 'year', min: 1970, max: 2099 };

const QUARTZ_FIELDS: readonly Field[] = [
  SECONDS,
  MINUTES,
  HOURS,
  DAYS_OF_MONTH,
  MONTHS_OF_YEAR,
  QUARTZ_WEEKDAYS,
  YEARS,
];
const CRON_FIELDS: readonly Field[] = [MINUTES, HOURS, DAYS_OF_MONTH, MONTHS_OF_YEAR, CRON_WEEKDAYS];

/** Days before the last one of the longest month. */
const MOST_BEFORE_LAST = 30;

const FORM = 'is no Quartz expression of 6 or 7 fields, such as 0 0/15 * * * ?';

/**
 * Reads a Quartz expression of 6 or 7 fields, seconds first, or a plain cron expression of 5 fields. Times are in UTC.
 * @throws CronError
 */
export function parseCron(text: string): CronSchedule {
  if (text.length > LONGEST_CRON) throw new CronError(`${FORM}: it has more than ${LONGEST_CRON} characters.`);
  if (!/^[0-9A-Za-z*?,/\-LW#\s]*$/.test(text)) throw new CronError(`${FORM}: it has another character.`);
  const given = text.trim().toUpperCase().split(/\s+/);
  const isPlain = given.length === CRON_FIELDS.length;
  if (!isPlain && given.length !== 6 && given.length !== 7)
    throw new CronError(`${FORM}: it has ${text.trim() === '' ? 0 : given.length} fields.`);
  const fields = isPlain ? CRON_FIELDS : QUARTZ_FIELDS;
  const parts = given.map((part, index) => readField(part, fields[index] ?? YEARS));
  const [seconds = '', minutes = '', hours = '', ...days] = isPlain ? ['0', ...parts] : parts;
  const crons = readDays(days, isPlain).map((each) => open([seconds, minutes, hours, ...each].join(' '), isPlain));
  const times = {
    seconds: valuesOf(seconds, SECONDS),
    minutes: valuesOf(minutes, MINUTES),
    hours: valuesOf(hours, HOURS),
  };
  return {
    nextAfter: (after) => earliest(crons.map((cron) => cron.nextRun(after))),
    // With several, each month has one day.
    shortestMs:
      shortestGap(times, () => crons.length === 1 && hasDaysInARow(open(['0', '0', '0', ...days].join(' '), isPlain))) *
      SECOND_MS,
  };
}

/** Returns the first time of a cron expression after a moment. Undefined: there is none, or the text is no cron expression. */
export function nextRun(cron: string, after: Date): Date | undefined {
  try {
    return parseCron(cron).nextAfter(after);
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}

/** Returns why a text cannot be a schedule, as the end of a sentence that begins with its name. Undefined: it can. */
export function findCronFault(text: string, leastMs: number): string | undefined {
  try {
    const { shortestMs } = parseCron(text);
    if (shortestMs >= leastMs) return undefined;
    return `fires every ${duration(shortestMs)}; the least is ${duration(leastMs)}.`;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

function open(pattern: string, isPlain: boolean): Cron {
  try {
    return new Cron(pattern, { timezone: 'UTC', alternativeWeekdays: !isPlain, sloppyRanges: true, paused: true });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error.message.replace(/^CronPattern: /, '').replace(/\.$/, '');
    throw new CronError(`${FORM}: ${reason}.`, { cause: error });
  }
}

function hasLeapDay(year: number): boolean {
  return new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29;
}

function earliest(times: readonly (Date | null)[]): Date | undefined {
  return times.filter((time) => time !== null).sort((one, other) => one.getTime() - other.getTime())[0];
}

/** The months by their number of days. */
const MONTH_LENGTHS: readonly {
  readonly days: number;
  readonly months: readonly number[];
  readonly isLeap?: boolean;
}[] = [
  { days: 31, months: [1, 3, 5, 7, 8, 10, 12] },
  { days: 30, months: [4, 6, 9, 11] },
  { days: 29, months: [2], isLeap: true },
  { days: 28, months: [2], isLeap: false },
];

/**
 * Returns the fields for days, months, weekdays and years that are to be combined. `L-3` and `L-3W`, days before the last one of a month,
 * become one combination for each length of a month, because croner does not read them.
 * @throws CronError
 */
function readDays(fields: readonly string[], isPlain: boolean): readonly (readonly string[])[] {
  const [day = '', month = '', weekday = '', year = '*'] = fields;
  const [, before, nearest = ''] = /^L-(\d+)(W?)$/.exec(day) ?? [];
  if (before === undefined) return [fields];
  if (weekday !== '?' && weekday !== '*') throw new CronError(`${FORM}: with ${day}, the day of week must be ?.`);
  if (Number(before) > MOST_BEFORE_LAST) throw new CronError(`${FORM}: day of month cannot be ${day}.`);
  open(['0', '0', '0', '1', month, weekday, year].join(' '), isPlain);
  const [months, years] = [valuesOf(month, MONTHS_OF_YEAR), valuesOf(year, YEARS)];
  return MONTH_LENGTHS.flatMap(({ days, months: ofLength, isLeap }) => {
    const meant = months.filter((each) => ofLength.includes(each));
    const ofYears = years.filter((each) => isLeap === undefined || isLeap === hasLeapDay(each));
    const date = days - Number(before);
    if (date < 1 || meant.length === 0 || ofYears.length === 0) return [];
    return [[`${date}${nearest}`, meant.join(','), weekday, isLeap === undefined ? year : ofYears.join(',')]];
  });
}

/** Returns a field with numbers for names, and a list for each range that passes the end, such as `FRI-MON` and `22-2`. */
function readField(given: string, field: Field): string {
  const { names = [], min, max } = field;
  const part = names.reduce(
    (text, name, index) => text.replaceAll(new RegExp(`\\b${name}(?=L?\\b)`, 'g'), String(index + min)),
    given,
  );
  const isWeekday = names === DAYS;
  // In Quartz, the last day of a week.
  if (part === 'L' && field === QUARTZ_WEEKDAYS) return String(max);
  if (/[LW]/.test(part) && field !== DAYS_OF_MONTH && !isWeekday)
    throw new CronError(`${FORM}: ${field.name} cannot be ${given}.`);
  return part
    .split(',')
    .map((item) => {
      const [, from, to, step = '1'] = /^(\d+)-(\d+)(?:\/(\d+))?$/.exec(item) ?? [];
      if (from === undefined || to === undefined || Number(from) <= Number(to)) return item;
      const isOutside = Number(from) > max || Number(to) < min || Number(step) === 0;
      // Years do not begin again.
      if (isOutside || field === YEARS) throw new CronError(`${FORM}: the ${field.name} cannot be ${item}.`);
      return [...steps(Number(from), Number(to) + (max - min + 1), Number(step))]
        .map((value) => (value > max ? value - (max - min + 1) : value))
        .join(',');
    })
    .join(',');
}

/** Returns the values of a field that croner accepted. */
function valuesOf(part: string, { min, max }: Field): readonly number[] {
  const values = part.split(',').flatMap((item) => {
    const [, from = '', to, step] = /^(\*|\?|\d+)?(?:-(\d+))?(?:\/(\d+))?$/.exec(item) ?? [];
    const first = /^\d+$/.test(from) ? Number(from) : min;
    const last = to !== undefined ? Number(to) : /^\d+$/.test(from) && step === undefined ? first : max;
    return [...steps(first, Math.min(last, max), Math.max(Number(step ?? 1), 1))];
  });
  return [...new Set(values)].sort((one, other) => one - other);
}

function* steps(from: number, to: number, step: number): Generator<number> {
  for (let value = from; value <= to; value += step) yield value;
}

interface TimesOfDay {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
}

/** Returns the seconds between the closest two of the times of a day, or of two days in a row. */
function shortestGap({ seconds, minutes, hours }: TimesOfDay, hasNeighbours: () => boolean): number {
  let first: number | undefined;
  let last: number | undefined;
  let shortest = Number.POSITIVE_INFINITY;
  for (const hour of hours)
    for (const minute of minutes)
      for (const second of seconds) {
        const time = (hour * 60 + minute) * 60 + second;
        if (last !== undefined) shortest = Math.min(shortest, time - last);
        first ??= time;
        last = time;
      }
  if (first === undefined || last === undefined) return shortest;
  const overnight = first + DAY_SECONDS - last;
  return overnight < shortest && overnight < DAY_SECONDS && hasNeighbours() ? overnight : shortest;
}

function hasDaysInARow(days: Cron): boolean {
  const found = days.nextRuns(MOST_DAYS, EPOCH);
  return found.some((day, index) => {
    const before = found[index - 1];
    return before !== undefined && day.getTime() - before.getTime() === DAY_SECONDS * SECOND_MS;
  });
}

const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', SECOND_MS],
] as const;

function duration(ms: number): string {
  const [name, unitMs] = UNITS.find(([, unit]) => ms >= unit && ms % unit === 0) ?? ['second', SECOND_MS];
  const count = ms / unitMs;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}
