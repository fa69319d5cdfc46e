import { canonicalDecimal } from './decimal.ts';

/**
 * A number of JSON that a double cannot hold. JSON and `String` print it with its original digits. Code that walks over values must treat
 * it as a single value, not as an object.
 */
export class ExactNumber {
  /** The number as JSON writes it. It is public, because deep equality compares only visible members. */
  readonly text: string;

  /** @param text the number as JSON writes it */
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
    /** Returns a value that `JSON.stringify` prints unchanged. Source: ECMAScript proposal "JSON.parse source text access". */
    rawJSON(text: string): unknown;
  }
}

/** Returns whether a value is an object of JSON. Arrays and `ExactNumber` are not. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isMembers(value) && !Array.isArray(value);
}

/**
 * Parses JSON as `JSON.parse` does, but numbers that a double cannot hold become an `ExactNumber`. A reviver of `JSON.parse` could read the
 * source of a number, but it takes ten times as long, and a hundred times for a list of zeros. This function searches the text first, in a
 * quarter of the time of parsing, and converts only the numbers that it finds.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const mayExceedDoubles = hasLongNumber(text) || LARGE_EXPONENT.test(text);
  const marked = mayExceedDoubles ? markNumbers(text) : text;
  if (marked === text) return JSON.parse(text);
  try {
    return restoreNumbers(JSON.parse(marked));
  } catch (error) {
    // Positions in its message refer to the marked text.
    if (error instanceof SyntaxError) return JSON.parse(text);
    throw error;
  }
}

/** A double prints any number with fewer characters again, unless the exponent has three digits. */
const LONG = 16;
/** Only a text outside of strings can be followed so. UUIDs and hashes often look like an exponent. */
const LARGE_EXPONENT = /\de[-+]?\d{3,}(?:[\s,\]}]|$)/i;

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;

/** Reads every 16th character, because a run of 16 digits covers one of them. Strings that consist of digits are skipped. */
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

/**
 * The mark before the digits of a number. It is random, so no incoming text contains it. Browsers have no `randomUUID` on pages without
 * TLS.
 */
const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join('-')} `;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Replaces each number by `["mark9007199254740993"]`: a list, because a list can only be a value, never a name. */
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

/** Returns the offset of the quote that ends the string, or the end of the text. */
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

/** Returns whether a double prints the same digits. */
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

/** Returns whether a value is an array or object of JSON. `ExactNumber` is not. */
export function isMembers(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** A loop instead of recursion, because the text may be nested deeper than the call stack. */
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

/** Returns the number for its mark. Any other value is added to those that are still to be searched. */
function restore(member: JsonMembers, open: JsonMembers[]): unknown {
  const [text] = Array.isArray(member) && member.length === 1 ? member : [];
  if (typeof text === 'string' && text.startsWith(MARK)) return new ExactNumber(text.slice(MARK.length));
  open.push(member);
  return member;
}
