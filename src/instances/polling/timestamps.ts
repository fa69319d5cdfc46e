import { type DateTimeFormatter, LocalDate, LocalDateTime, ZonedDateTime, type ZoneId } from '@js-joda/core';
import { createFormatter } from '../../date-pattern.ts';

/** Reads the time of a change from a value of a record, in milliseconds since 1970. Undefined for a value that is no time. */
export type ReadTimestamp = (value: unknown) => number | undefined;

/**
 * The units of numbers since 1970, which the size of the number distinguishes. Each unit ends where the next one begins: at a time in the
 * year 5138 in this unit, and in 1973 in the next one.
 */
const UNITS: readonly (readonly [below: number, toMs: (value: number) => number])[] = [
  [1e11, (seconds) => seconds * 1000],
  [1e14, (milliseconds) => milliseconds],
  [1e17, (microseconds) => Math.floor(microseconds / 1000)],
];

/**
 * Returns a reader of ISO 8601, of numbers since 1970, and of texts in `format` (a pattern of Java). A time without a zone is in `zone`.
 * @throws Error that describes the fault of the pattern
 */
export function timestampReader(format: string | undefined, zone: ZoneId): ReadTimestamp {
  const formatter = format === undefined ? undefined : createFormatter(format);
  return (value) => {
    if (value instanceof Date) return value.getTime();
    if (typeof value === 'number') return ofNumber(value);
    if (typeof value !== 'string' || value === '') return undefined;
    return (
      readIso(value, zone) ??
      (formatter && readPattern(value, formatter, zone)) ??
      (/^\d{9,16}$/.test(value) ? ofNumber(Number(value)) : undefined)
    );
  };
}

function ofNumber(value: number): number | undefined {
  if (!Number.isFinite(value) || value <= 0) return undefined;
  return UNITS.find(([below]) => value < below)?.[1](value);
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/;
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$/;

function readIso(text: string, zone: ZoneId): number | undefined {
  if (DATE.test(text)) return attempt(() => startOf(LocalDate.parse(text), zone));
  if (LOCAL.test(text)) return attempt(() => LocalDateTime.parse(text).atZone(zone).toInstant().toEpochMilli());
  if (!WITH_OFFSET.test(text)) return undefined;
  const ms = Date.parse(text.replace(/([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`));
  return Number.isNaN(ms) ? undefined : ms;
}

/** Reads as much as the text contains: a time with a zone, a time without, or a day. */
function readPattern(text: string, formatter: DateTimeFormatter, zone: ZoneId): number | undefined {
  return (
    attempt(() => formatter.parse(text, ZonedDateTime.FROM).toInstant().toEpochMilli()) ??
    attempt(() => formatter.parse(text, LocalDateTime.FROM).atZone(zone).toInstant().toEpochMilli()) ??
    attempt(() => startOf(formatter.parse(text, LocalDate.FROM), zone))
  );
}

function startOf(day: LocalDate, zone: ZoneId): number {
  return day.atStartOfDay(zone).toInstant().toEpochMilli();
}

/** Returns undefined for an invalid time, for which the library throws. */
function attempt(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
