import { createTimeZone } from '#connector/simulator';

/** Where the company is: recorded answers are in the time of the Pacific coast, with its summer time. */
const ZONE = createTimeZone('America/Los_Angeles');

/** `2014-09-18T12:56:01-07:00`, as records have it. */
export const printTime = (ms: number) => ZONE.print(ms);

/** `2015-07-24T10:48:27.082-07:00`, as answers have it. */
export const printMoment = (ms: number) => ZONE.print(ms, 3);

/** The day in the company's time. */
export const dayOf = (ms: number) => ZONE.print(ms).slice(0, 10);

export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

/** A day is its midnight; without an offset it is the company's time. @returns milliseconds; undefined for what is no time */
export function readTime(text: string): number | undefined {
  const [, day, time = '00:00:00', offset] = TIME.exec(text) ?? [];
  const ms = Date.parse(`${day}T${time}${offset?.replace(/(\d\d)(\d\d)$/, '$1:$2') ?? 'Z'}`);
  if (day === undefined || Number.isNaN(ms)) return undefined;
  return offset === undefined ? ms - ZONE.offsetAt(ms) : ms;
}
