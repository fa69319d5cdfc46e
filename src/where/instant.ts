import type { Value } from './model.ts';

type Instant = Extract<Value, { kind: 'datetime' }>;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9})\d*)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/;

/** Whether the text is a day of the calendar, as `yyyy-MM-dd`. */
export function isDate(text: string): boolean {
  return dayStartMs(text) !== undefined;
}

function dayStartMs(text: string): number | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() : undefined;
}

/**
 * Reads an ISO 8601 date-time, or a date as its first instant. Without a zone it is UTC; digits below a nanosecond are cut.
 * Undefined when it is neither.
 */
export function readInstant(text: string): Instant | undefined {
  const day = dayStartMs(text);
  if (day !== undefined) return instant(day, 0);
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const start = dayStartMs(match[1] ?? '');
  const [hour, minute, second] = [Number(match[2]), Number(match[3]), Number(match[4] ?? 0)];
  const offsetMinutes = readOffset(match[6] ?? 'Z');
  if (start === undefined || hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const fraction = (match[5] ?? '').padEnd(9, '0');
  const epochMs = start + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + Number(fraction.slice(0, 3));
  return instant(epochMs, Number(fraction.slice(3)));
}

function readOffset(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 18 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function instant(epochMs: number, nanos: number): Instant {
  const [seconds = '', millis = ''] = new Date(epochMs).toISOString().slice(0, -1).split('.');
  const fraction = `${millis}${String(nanos).padStart(6, '0')}`.replace(/0+$/, '');
  return { kind: 'datetime', text: fraction === '' ? `${seconds}Z` : `${seconds}.${fraction}Z`, epochMs, nanos };
}

export function compareInstants(a: Instant, b: Instant): number {
  return a.epochMs - b.epochMs || a.nanos - b.nanos;
}
