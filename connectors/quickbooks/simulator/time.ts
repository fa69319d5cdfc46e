import { createTimeZone } from '#connector/simulator';

/** Time zone of the company. Recorded responses have Pacific time, with daylight saving time. */
const ZONE = createTimeZone('America/Los_Angeles');

/** Prints a time as records contain it, such as `2014-09-18T12:56:01-07:00`. */
export const printTime = (ms: number) => ZONE.print(ms);

/** Prints a time as responses contain it, such as `2015-07-24T10:48:27.082-07:00`. */
export const printMoment = (ms: number) => ZONE.print(ms, 3);

/** Returns the day in the company's time zone. */
export const dayOf = (ms: number) => ZONE.print(ms).slice(0, 10);

export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Reads a time. A day is its midnight, and a time without an offset is in the company's time zone.
 * @returns milliseconds, or undefined if the text is no time
 */
export function readTime(text: string): number | undefined {
  const [, day, time = '00:00:00', offset] = TIME.exec(text) ?? [];
  const ms = Date.parse(`${day}T${time}${offset?.replace(/(\d\d)(\d\d)$/, '$1:$2') ?? 'Z'}`);
  if (day === undefined || Number.isNaN(ms)) return undefined;
  return offset === undefined ? ms - ZONE.offsetAt(ms) : ms;
}
