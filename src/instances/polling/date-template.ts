import { createRequire } from 'node:module';
import {
  ChronoField,
  type DateTimeFormatter,
  DateTimeFormatterBuilder,
  Instant,
  ZonedDateTime,
  ZoneId,
} from '@js-joda/core';

/** A text with placeholders for a time (decisions D8). */
export interface DateTemplate {
  /** Returns the text with each placeholder replaced by this time, in milliseconds since 1970. */
  readonly render: (atMs: number) => string;
  /** Length in milliseconds of the coarsest placeholder's unit; undefined without placeholders. */
  readonly granularityMs: number | undefined;
}

const require = createRequire(import.meta.url);

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const EPOCH_UNITS: Readonly<Record<string, Pick<Placeholder, 'format' | 'granularityMs'>>> = {
  s: { format: (atMs) => String(Math.floor(atMs / SECOND_MS)), granularityMs: SECOND_MS },
  ms: { format: String, granularityMs: 1 },
  us: { format: (atMs) => `${atMs}000`, granularityMs: 1 },
};

interface Placeholder {
  readonly format: (atMs: number) => string;
  readonly granularityMs: number;
}

const KNOWN =
  '${date:PATTERN}, ${gmtDate:PATTERN}, ${dateTimeZone:{ZONE}:PATTERN}, ${epoch}, ${epoch:s}, ${epoch:ms} and ${epoch:us}';

/**
 * `zone` is that of `${date:…}`. Patterns are those of Java.
 * @throws Error that says which placeholder is wrong, and why
 */
export function parseDateTemplate(text: string, zone: string): DateTemplate {
  const pieces: (string | Placeholder)[] = [];
  let at = 0;
  for (let begin = text.indexOf('${'); begin >= 0; begin = text.indexOf('${', at)) {
    const end = endOf(text, begin + 2);
    if (end === undefined) throw new Error(`'${text.slice(begin, begin + 60)}' is not closed by '}'.`);
    pieces.push(text.slice(at, begin), readPlaceholder(text.slice(begin + 2, end), zone));
    at = end + 1;
  }
  pieces.push(text.slice(at));
  const placeholders = pieces.filter((piece) => typeof piece !== 'string');
  return {
    render: (atMs) => pieces.map((piece) => (typeof piece === 'string' ? piece : piece.format(atMs))).join(''),
    granularityMs:
      placeholders.length === 0 ? undefined : Math.max(...placeholders.map(({ granularityMs }) => granularityMs)),
  };
}

/** Returns the position of the brace that closes a placeholder. Braces nest, and quoted parts of a pattern are text. */
function endOf(text: string, begin: number): number | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let index = begin; index < text.length; index++) {
    const character = text[index];
    if (character === "'") isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '{') depth++;
    if (character === '}' && depth-- === 0) return index;
  }
  return undefined;
}

function readPlaceholder(inside: string, zone: string): Placeholder {
  const [, name = '', argument] = /^(\w*)(?::(.*))?$/s.exec(inside) ?? [];
  if (name === 'epoch') {
    const unit = Object.hasOwn(EPOCH_UNITS, argument ?? 'ms') ? EPOCH_UNITS[argument ?? 'ms'] : undefined;
    if (unit === undefined) throw new Error(`'\${${inside}}' has an unknown unit. Use s, ms or us.`);
    return unit;
  }
  if (argument !== undefined && argument !== '') {
    if (name === 'date') return readPattern(inside, argument, zone);
    if (name === 'gmtDate') return readPattern(inside, argument, 'GMT');
    const [, ownZone, pattern] = name === 'dateTimeZone' ? (/^\{([^{}]+)\}:(.+)$/s.exec(argument) ?? []) : [];
    if (ownZone !== undefined && pattern !== undefined) return readPattern(inside, pattern, ownZone);
  }
  throw new Error(`'\${${inside}}' is not a placeholder. Use ${KNOWN}.`);
}

function readPattern(inside: string, pattern: string, zoneName: string): Placeholder {
  const zone = findZone(zoneName);
  if (zone === undefined) throw new Error(`'\${${inside}}' has the unknown time zone '${zoneName}'.`);
  const formatter = createFormatter(pattern);
  const isFixed = zone.rules().isFixedOffset();
  const letters = lettersOf(pattern);
  if (letters.includes('z') && !isFixed) {
    throw new Error(
      `'\${${inside}}' names the time zone by a word, which changes with daylight saving time. Use Z or XXX.`,
    );
  }
  const format = (atMs: number) => ZonedDateTime.ofInstant(Instant.ofEpochMilli(atMs), zone).format(formatter);
  try {
    format(0);
  } catch (error) {
    throw new Error(`'\${${inside}}' cannot be formatted: ${messageOf(error)}`, { cause: error });
  }
  // Without its offset one hour in autumn looks like the next.
  const ambiguousMs = isFixed || /[zZX]/.test(letters) ? 0 : HOUR_MS;
  return { format, granularityMs: granularityOf(letters) + ambiguousMs };
}

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

/** @throws Error that says what is wrong with the pattern */
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

/** Finds a time zone; undefined for an unknown name. */
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

function granularityOf(letters: string): number {
  return STEPS.find(([finest]) => finest.test(letters))?.[1] ?? 366 * DAY_MS;
}

function lettersOf(pattern: string): string {
  return pattern.replace(QUOTED, '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
