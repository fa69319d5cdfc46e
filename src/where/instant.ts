import type { Value } from './model.ts';

/** A point in time: milliseconds since 1970, and the nanoseconds below them. */
export interface Instant {
  readonly epochMs: number;
  readonly nanos: number;
}

/** Returns whether the text is an existing date, as `yyyy-MM-dd`. */
export function isDate(text: string): boolean {
  return text.length === 10 && readDay(text) !== undefined;
}

/**
 * Reads an ISO 8601 date-time, or a date as its first instant. Without a zone it is UTC, and digits below a nanosecond are dropped. Returns
 * undefined for any other text, and for more than 100 characters. It runs once per row and predicate; date and time have fixed offsets, so
 * it needs no pattern for them.
 */
export function readInstant(text: string): Instant | undefined {
  const day = text.length > MAX_CHARACTERS ? undefined : readDay(text);
  if (day === undefined) return undefined;
  if (text.length === 10) return { epochMs: day, nanos: 0 };
  const hasSeconds = text[16] === ':';
  const minutes = readMinutes(text);
  const seconds = hasSeconds ? readNumber(text, 17) : 0;
  if (minutes === undefined || !(seconds <= 59)) return undefined;
  const start = day + (minutes * 60 + seconds) * 1000;
  const rest = text.slice(hasSeconds ? 19 : 16);
  return rest === 'Z' || rest === '' ? { epochMs: start, nanos: 0 } : addRest(start, rest, hasSeconds);
}

/** Without this limit, a megabyte of digits or blanks would be an instant. */
const MAX_CHARACTERS = 100;

/** Reads an instant as `readInstant` does, and returns it as a value. Undefined also when UTC moves it outside the years 0000 to 9999. */
export function readDateTime(text: string): Extract<Value, { kind: 'datetime' }> | undefined {
  const instant = readInstant(text);
  return instant && toDateTime(instant);
}

/** Returns the instant as a value. Undefined outside the years 0000 to 9999. */
export function toDateTime({ epochMs, nanos }: Instant): Extract<Value, { kind: 'datetime' }> | undefined {
  if (epochMs < FIRST_MS || epochMs > LAST_MS) return undefined;
  return { kind: 'datetime', text: canonicalText({ epochMs, nanos }), epochMs, nanos };
}

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function canonicalText({ epochMs, nanos }: Instant): string {
  const [seconds = '', millis = ''] = new Date(epochMs).toISOString().slice(0, -1).split('.');
  const fraction = `${millis}${String(nanos).padStart(6, '0')}`.replace(/0+$/, '');
  return fraction === '' ? `${seconds}Z` : `${seconds}.${fraction}Z`;
}

/** Compares two instants and returns a number as for `sort`. */
export function compareInstants(a: Instant, b: Instant): number {
  return a.epochMs - b.epochMs || a.nanos - b.nanos;
}

/** Returns the start of the day that the text begins with, in milliseconds since 1970. */
function readDay(text: string): number | undefined {
  if (text[4] !== '-' || text[7] !== '-') return undefined;
  const year = readNumber(text, 0) * 100 + readNumber(text, 2);
  const month = readNumber(text, 5);
  const day = readNumber(text, 8);
  const exists = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth(year, month);
  return exists ? daysSinceEpoch(year, month, day) * 86_400_000 : undefined;
}

/** Returns the number of two digits. NaN for anything else, which fails every comparison. */
function readNumber(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** `Date.UTC` reads the years 0 to 99 as 1900 to 1999. Years begin in March here, so that the leap day is the last one. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leapDays + dayOfYear - 719_469;
}

/** Returns the minute of the day of `…THH:mm`. */
function readMinutes(text: string): number | undefined {
  if (text[13] !== ':' || (text[10] !== 'T' && text[10] !== 't' && text[10] !== ' ')) return undefined;
  const hour = readNumber(text, 11);
  const minute = readNumber(text, 14);
  return hour <= 23 && minute <= 59 ? hour * 60 + minute : undefined;
}

const REST = /^(?:\.(\d{1,9})\d*)?\s*(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?$/;

/** Adds the fraction of a second and the time zone. */
function addRest(startMs: number, rest: string, hasSeconds: boolean): Instant | undefined {
  const match = REST.exec(rest);
  if (match === null || (match[1] !== undefined && !hasSeconds)) return undefined;
  const fraction = (match[1] ?? '').padEnd(9, '0');
  const [hours, minutes] = [Number(match[3] ?? 0), Number(match[4] ?? 0)];
  if (hours > 18 || minutes > 59) return undefined;
  const offsetMs = (match[2] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return { epochMs: startMs - offsetMs + Number(fraction.slice(0, 3)), nanos: Number(fraction.slice(3)) };
}
