import { canonicalDecimal } from './decimal.ts';

/**
 * A number of JSON with more than a double holds. JSON prints it with the digits it came with, and `String` gives them.
 * Whatever walks over values must take it for a single value, not for an object.
 */
export class ExactNumber {
  /** Not private: two are deeply equal only when what can be seen of them is. */
  readonly text: string;

  /** `text` is a number as JSON writes it. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

declare global {
  interface JSON {
    /** Printed by `JSON.stringify` as it is. Source: ECMAScript proposal "JSON.parse source text access". */
    rawJSON(text: string): unknown;
  }
}

/** A value of JSON that has members. A number with more digits than a double has is none. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isMembers(value) && !Array.isArray(value);
}

/**
 * Parses as `JSON.parse` does, but numbers that a double cannot hold become an `ExactNumber`. JSON.parse would tell the
 * source of a number to a reviver, which takes ten times as long, and a hundred times over a list of zeros. Here the text is
 * looked through first (a quarter of the time of parsing), and only what is found is treated further.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const marked = mayExceedDoubles(text) ? markNumbers(text) : text;
  if (marked === text) return JSON.parse(text);
  try {
    return restoreNumbers(JSON.parse(marked));
  } catch (error) {
    // Positions in its message are those of another text.
    if (error instanceof SyntaxError) return JSON.parse(text);
    throw error;
  }
}

/** A double prints any number with fewer characters again, unless there is an exponent of three digits. */
const LONG = 16;
/** Only what stands outside of strings can be followed so; among UUIDs and hashes much looks like an exponent. */
const LARGE_EXPONENT = /\de[-+]?\d{3,}(?:[\s,\]}]|$)/i;

function mayExceedDoubles(text: string): boolean {
  return hasLongNumber(text) || LARGE_EXPONENT.test(text);
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;

/** Looks at every 16th character: a run of 16 digits goes over one of them. Text that consists of digits is passed over. */
function hasLongNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    const code = text.charCodeAt(at);
    if (code > NINE || code < POINT || !isDigitOrPoint(code)) continue;
    let begin = at;
    while (isDigitOrPoint(text.charCodeAt(begin - 1))) begin--;
    while (isDigitOrPoint(text.charCodeAt(at))) at++;
    if (at - begin >= LONG && text.charCodeAt(begin - 1) !== QUOTE) return true;
  }
  return false;
}

function isDigitOrPoint(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === POINT;
}

/** Before the digits of what was a number. Nobody knows it, so it is in no text that comes in. Browsers have no `randomUUID` for pages without TLS. */
const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join('-')} `;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Puts `["mark9007199254740993"]` for the number: a list, because it can stand for a value only, never for a name. */
function markNumbers(text: string): string {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (isDigitOrPoint(code) || code === MINUS) {
      const begin = at;
      while (isInNumber(text.charCodeAt(at + 1))) at++;
      const token = text.slice(begin, at + 1);
      if (isHeld(token) || !NUMBER.test(token)) continue;
      marked += `${text.slice(copied, begin)}["${MARK}${token}"]`;
      copied = at + 1;
    }
  }
  return marked + text.slice(copied);
}

/** The place of the quote that ends the string, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

function isInNumber(code: number): boolean {
  return isDigitOrPoint(code) || code === MINUS || code === PLUS || code === LOWER_E || code === UPPER_E;
}

/** Whether a double prints the same digits again. */
function isHeld(token: string): boolean {
  if (token.length < LONG && !/e/i.test(token)) return true;
  const printed = String(Number(token));
  return printed === token || sameDecimal(printed, token);
}

function sameDecimal(one: string, other: string): boolean {
  const canonical = canonicalDecimal(one);
  return canonical !== undefined && canonical === canonicalDecimal(other);
}

type JsonMembers = unknown[] | Record<string, unknown>;

/** An array or object of JSON. A number with more digits than a double has is none. */
export function isMembers(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** Step by step, because the text may be nested deeper than functions can call themselves. */
function restoreNumbers(parsed: unknown): unknown {
  const root = [parsed];
  const open: JsonMembers[] = [root];
  for (let members = open.pop(); members !== undefined; members = open.pop()) {
    if (Array.isArray(members)) {
      for (let index = 0; index < members.length; index++) {
        const member = members[index];
        if (isMembers(member)) members[index] = restore(member, open);
      }
    } else {
      for (const name of Object.keys(members)) {
        const member = members[name];
        if (isMembers(member)) members[name] = restore(member, open);
      }
    }
  }
  return root[0];
}

/** The number in place of its mark; anything else is still to be looked into. */
function restore(member: JsonMembers, open: JsonMembers[]): unknown {
  const [text] = Array.isArray(member) && member.length === 1 ? member : [];
  if (typeof text === 'string' && text.startsWith(MARK)) return new ExactNumber(text.slice(MARK.length));
  open.push(member);
  return member;
}
