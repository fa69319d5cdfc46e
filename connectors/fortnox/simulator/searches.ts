import { compileFilter, type TableRow } from '#connector/simulator';
import { badParameter } from './faults.ts';

export type Test = (row: TableRow) => boolean;

/**
 * Compiles a value of a parameter into a test.
 * @throws Fault 400 for an invalid value
 */
export type Search = (text: string) => Test;

/**
 * Returns a search for `ILIKE '%value%'`, as Fortnox documents it: anywhere in the text and ignoring case. The value is not escaped, so it
 * can contain wildcards. An empty value matches every row.
 */
export function contains(column: string): Search {
  return (text) => {
    if (text === '') return () => true;
    const of = { type: 'string', fold: (value: string) => value.toLowerCase() } as const;
    const test = { kind: 'test', field: column, of, operator: 'LIKE', values: [`%${text}%`] } as const;
    return compileFilter(test, { refuse: badParameter });
  };
}

/** Returns a search in the rows of a document. */
export function containsInRows(rows: string, column: string): Search {
  const search = contains(column);
  return (text) => {
    const test = search(text);
    return (row) => rowsOf(row, rows).some(test);
  };
}

export function rowsOf(row: TableRow, name: string): readonly TableRow[] {
  const rows = row[name];
  return Array.isArray(rows) ? rows : [];
}

export function isTrue(column: string): Search {
  return (text) => {
    if (!['true', 'false', '1', '0'].includes(text)) throw badParameter();
    return (row) => row[column] === (text === 'true' || text === '1');
  };
}

const byDay =
  (holds: (day: string, bound: string) => boolean) =>
  (column: string): Search =>
  (text) => {
    if (!isDay(text)) throw badParameter();
    return ({ [column]: day }) => typeof day === 'string' && day !== '' && holds(day, text);
  };

/** Searches for days from a bound on, or up to one. Both include it. */
export const fromDay = byDay((day, bound) => day >= bound);
export const toDay = byDay((day, bound) => day <= bound);

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

const SWEDISH_TIME = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Stockholm',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** Prints a time on Swedish clocks, such as `2024-03-31 01:59:00`. */
export function swedishTime(ms: number): string {
  return SWEDISH_TIME.format(ms);
}

/** Searches records that changed at or after a minute, or a second, on Swedish clocks. No response contains the time of the last change. */
export const changedSince: Search = (text) => {
  const [, day = '', time = '00:00', seconds = '00'] =
    /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  if (!isDay(day)) throw badParameter();
  const since = `${day} ${time}:${seconds}`;
  return ({ modified }) => swedishTime(Number(modified)) >= since;
};
