import { Instant, LocalDate, LocalDateTime, ParsePosition, ZonedDateTime, ZoneOffset } from '@js-joda/core';
import { createFormatter, lettersOf } from '../date-pattern.ts';
import type { Value } from '../where/index.ts';

type Moment = Extract<Value, { kind: 'date' | 'datetime' }>;

/** A Java pattern in which a provider writes dates, read and written. A time without a zone is in UTC. */
interface DatePattern {
  /** The type of the values: `datetime` if the pattern has a time. */
  readonly type: 'date' | 'datetime';
  /** Returns the ISO 8601 text of a provider's text. Undefined for a text that the pattern would not write so. */
  readonly read: (text: string) => string | undefined;
  /** Returns the provider's text of an ISO 8601 text. Undefined where the pattern cannot write exactly this date. */
  readonly write: (iso: string) => string | undefined;
  /** Whether the order of the texts is the order of the dates. */
  readonly isOrdered: boolean;
  /** Returns the provider's text of the last date of the pattern that is not after the given one. */
  readonly floor: (value: Moment) => string | undefined;
}

/** Numbers of a fixed width, from the year down, with fixed text between them. */
const ORDERED =
  /^yyyy(?:[^A-Za-z']*MM(?:[^A-Za-z']*dd(?:(?:[^A-Za-z']|'[^']*')*HH(?:[^A-Za-z']*mm(?:[^A-Za-z']*ss(?:[^A-Za-z']*SSS)?)?)?)?)?)?(?:'Z'|Z|X{1,3})?$/;

/** A fraction of a second that a date of JavaScript would round. */
const FINER_THAN_MS = /\.\d{3}\d*[1-9]/;

/** Compiling a pattern takes a millisecond, and few are in use. */
const patterns = new Map<string, DatePattern>();
const MOST_PATTERNS = 1000;

/**
 * Reads a Java pattern.
 * @throws Error that says what is wrong with the pattern
 */
export function datePattern(pattern: string): DatePattern {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const made = createPattern(pattern);
  if (patterns.size >= MOST_PATTERNS) patterns.clear();
  patterns.set(pattern, made);
  return made;
}

function createPattern(pattern: string): DatePattern {
  const formatter = createFormatter(pattern);
  const letters = lettersOf(pattern);
  const type = /[HhKkmsSa]/.test(letters) ? 'datetime' : 'date';
  const format = (moment: ZonedDateTime): string | undefined => attempt(() => moment.format(formatter));
  const hasZone = /[ZXxVzO]/.test(letters);
  const readers: readonly ((text: string) => ZonedDateTime)[] = [
    ...(hasZone
      ? [(text: string) => formatter.parse(text, ZonedDateTime.FROM).withZoneSameInstant(ZoneOffset.UTC)]
      : []),
    ...(type === 'datetime'
      ? [(text: string) => formatter.parse(text, LocalDateTime.FROM).atZone(ZoneOffset.UTC)]
      : []),
    (text) => formatter.parse(text, LocalDate.FROM).atStartOfDay(ZoneOffset.UTC),
  ];
  const parse = (text: string): ZonedDateTime | undefined => {
    // The library throws for other texts, which takes a hundred times as long.
    const position = new ParsePosition(0);
    if (formatter.parseUnresolved(text, position) === null || position.getIndex() < text.length) return undefined;
    for (const read of readers) {
      const moment = attempt(() => read(text));
      if (moment !== undefined) return moment;
    }
    return undefined;
  };
  const toIso = (moment: ZonedDateTime): string =>
    type === 'date' ? moment.toLocalDate().toString() : new Date(moment.toInstant().toEpochMilli()).toISOString();
  if (format(ZonedDateTime.ofInstant(Instant.ofEpochMilli(0), ZoneOffset.UTC)) === undefined) {
    throw new Error(`'${pattern}' cannot write a date.`);
  }
  return {
    type,
    read: (text) => {
      const moment = text.length > 100 ? undefined : parse(text);
      // Only the spelling that the pattern writes counts, so that a filter on the date can be sent as one text.
      return moment === undefined || format(moment) !== text ? undefined : toIso(moment);
    },
    write: (iso) => {
      const moment = FINER_THAN_MS.test(iso) ? undefined : momentOf(iso);
      const text = moment && format(moment);
      const again = text === undefined ? undefined : parse(text);
      return moment !== undefined && again?.toInstant().equals(moment.toInstant()) === true ? text : undefined;
    },
    isOrdered: ORDERED.test(pattern) && !/[ZX]/.test(letters),
    floor: ({ text }) => {
      const moment = momentOf(text);
      return moment && format(moment);
    },
  };
}

function momentOf(iso: string): ZonedDateTime | undefined {
  const text = iso.length === 10 ? `${iso}T00:00:00Z` : iso;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  return attempt(() => ZonedDateTime.ofInstant(Instant.ofEpochMilli(ms), ZoneOffset.UTC));
}

/** Returns undefined for an impossible date, for which the library throws. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
