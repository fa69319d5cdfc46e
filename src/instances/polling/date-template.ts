import { Instant, ZonedDateTime } from '@js-joda/core';
import { createFormatter, findZone, granularityOf, lettersOf } from '../../date-pattern.ts';

/** A text with placeholders for a time (decisions D8). */
export interface DateTemplate {
  /** Returns the text with each placeholder replaced by this time, in milliseconds since 1970. */
  readonly render: (atMs: number) => string;
  /** Length in milliseconds of the coarsest placeholder's unit; undefined without placeholders. */
  readonly granularityMs: number | undefined;
}

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;

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
 * Parses a text with placeholders. Their patterns are those of Java.
 * @param zone time zone of `${date:…}`
 * @throws Error that names the invalid placeholder and the reason
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
