import { createRequire } from 'node:module';
import { ChronoField, type DateTimeFormatter, DateTimeFormatterBuilder, ZoneId } from '@js-joda/core';

const require = createRequire(import.meta.url);

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Append = (builder: DateTimeFormatterBuilder, count: number) => DateTimeFormatterBuilder;

const asIs =
  (letter: string): Append =>
  (builder, count) =>
    builder.appendPattern(letter.repeat(count));
/** Words: four letters and more are the whole word. */
const word =
  (letter: string): Append =>
  (builder, count) =>
    builder.appendPattern(letter.repeat(Math.min(count, 4)));
const once =
  (letter: string): Append =>
  (builder) =>
    builder.appendPattern(letter);
const number =
  (field: ChronoField): Append =>
  (builder, count) =>
    builder.appendValue(field, count);

/** The letters of java.text.SimpleDateFormat; the library has those of java.time, some of which mean something else. */
const JAVA_LETTERS: Readonly<Record<string, Append>> = {
  ...Object.fromEntries([...'YwWDdHkKhms'].map((letter) => [letter, asIs(letter)])),
  ...Object.fromEntries([...'GaZz'].map((letter) => [letter, once(letter)])),
  ...Object.fromEntries([...'MLE'].map((letter) => [letter, word(letter)])),
  // A fixed width, so that digits may follow.
  y: (builder, count) => (count === 4 ? builder.appendValue(ChronoField.YEAR_OF_ERA, 4) : asIs('y')(builder, count)),
  X: asIs('X'),
  F: number(ChronoField.ALIGNED_WEEK_OF_MONTH),
  u: number(ChronoField.DAY_OF_WEEK),
  // A fraction of at least three digits, where Java has a number: `.5` is half a second, not five thousandths.
  S: (builder, count) => builder.appendFraction(ChronoField.NANO_OF_SECOND, Math.min(Math.max(count, 3), 9), 9, false),
};

const QUOTED = /'(?:[^']|'')*'/g;
const PIECES = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+|'.*$/gs;

/** A pattern without words, nor weeks, which begin on another day elsewhere. */
const NUMBERS_ONLY = /^(?:[yDdHhKkmsSXZuF]|([ML])(?!\1\1)|[^A-Za-z'])*$/;

/** The English names of months and days need 35 MB, and most processes never use them. */
function loadWords(): typeof import('@js-joda/locale_en') {
  return require('@js-joda/locale_en');
}

/**
 * Returns a formatter and parser for a pattern of java.text.SimpleDateFormat.
 * @throws Error that says what is wrong with the pattern
 */
export function createFormatter(pattern: string): DateTimeFormatter {
  const words = NUMBERS_ONLY.test(lettersOf(pattern)) ? undefined : loadWords();
  // As Java reads: `jul` is a month, too.
  const builder = new DateTimeFormatterBuilder().parseCaseInsensitive().parseLenient();
  try {
    for (const [piece, letter] of pattern.matchAll(PIECES)) {
      const append = letter === undefined ? once(piece) : JAVA_LETTERS[letter];
      if (append === undefined) throw new Error(`'${letter}' is not a pattern letter. Write text in single quotes.`);
      append(builder, piece.length);
    }
    const formatter = builder.toFormatter();
    return words === undefined ? formatter : formatter.withLocale(words.Locale.US);
  } catch (error) {
    throw new Error(`'${pattern}' is not a Java date pattern: ${messageOf(error)}`, { cause: error });
  }
}

/** Time zones that need no list of zones. */
const FIXED_ZONE = /^(?:UTC?|GMT)?(?:[+-][\d:]+)?$|^Z$/;

/** Returns the time zone of a name, or undefined for an unknown name. */
export function findZone(name: string): ZoneId | undefined {
  // Adds its list to the library.
  if (!FIXED_ZONE.test(name)) require('@js-joda/timezone');
  try {
    return ZoneId.of(name);
  } catch {
    return undefined;
  }
}

/** The finest that a pattern has decides; at the end stands a year. */
const STEPS: readonly (readonly [letters: RegExp, ms: number])[] = [
  [/S/, 1],
  [/s/, SECOND_MS],
  [/m/, MINUTE_MS],
  [/[HhKk]/, HOUR_MS],
  [/[dDEFu]/, DAY_MS],
  [/[wW]/, 7 * DAY_MS],
  [/[ML]/, 31 * DAY_MS],
];

/** Returns the length of the finest unit among the letters of a pattern, in milliseconds. */
export function granularityOf(letters: string): number {
  return STEPS.find(([finest]) => finest.test(letters))?.[1] ?? 366 * DAY_MS;
}

/** Returns the letters of a pattern, without quoted text. */
export function lettersOf(pattern: string): string {
  return pattern.replace(QUOTED, '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
