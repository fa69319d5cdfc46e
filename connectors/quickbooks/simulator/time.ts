/** Where the company is: recorded answers are in the time of the Pacific coast, with its summer time. */
const ZONE = new Intl.DateTimeFormat('en-US', { timeZone: 'America/Los_Angeles', timeZoneName: 'longOffset' });

const HOUR_MS = 3_600_000;
/** By the hour: clocks change at the beginning of one. To work it out takes longer than everything else of an answer. */
const OFFSETS = new Map<number, string>();

/** `-07:00`. */
function offsetAt(ms: number): string {
  const hour = Math.floor(ms / HOUR_MS);
  const offset = OFFSETS.get(hour) ?? findOffset(hour * HOUR_MS);
  OFFSETS.set(hour, offset);
  return offset;
}

function findOffset(ms: number): string {
  const name = ZONE.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name.replace('GMT', '') || '+00:00';
}

function minutesOf(offset: string): number {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function localText(ms: number): string {
  return new Date(ms + minutesOf(offsetAt(ms)) * 60_000).toISOString();
}

/** `2014-09-18T12:56:01-07:00`, as records have it. */
export function printTime(ms: number): string {
  return localText(ms).slice(0, 19) + offsetAt(ms);
}

/** `2015-07-24T10:48:27.082-07:00`, as answers have it. */
export function printMoment(ms: number): string {
  return localText(ms).slice(0, 23) + offsetAt(ms);
}

/** The day in the company's time. */
export function dayOf(ms: number): string {
  return localText(ms).slice(0, 10);
}

export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

/** A day is its midnight; without an offset it is the company's time. @returns milliseconds; undefined for what is no time */
export function readTime(text: string): number | undefined {
  const [, day, time = '00:00:00', offset] = TIME.exec(text) ?? [];
  const ms = Date.parse(`${day}T${time}Z`);
  if (day === undefined || Number.isNaN(ms)) return undefined;
  if (offset === 'Z') return ms;
  return ms - minutesOf(offset ?? offsetAt(ms)) * 60_000;
}
