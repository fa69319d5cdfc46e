/** SOQL literals. Source: SOQL and SOSL Reference, "Quoted String Escape Sequences" and "Date Formats and Date Literals". */

const ESCAPES: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Control characters without a name of their own are written as `\uXXXX`. */
export function quote(text: string): string {
  return `'${text.replace(/['\\\p{Cc}]/gu, escapeCharacter)}'`;
}

export function escapeCharacter(character: string): string {
  return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Of one string in a WHERE clause. Source: App Limits Cheat Sheet, "SOQL and SOSL Limits". */
export const MAX_STRING_LENGTH = 4000;

/**
 * Whether text compares alike under every reading of "ignores case": ASCII without blanks at its ends. About accents, blanks at
 * the ends and control characters nothing is documented.
 */
export function isPlain(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text) && text.trim() === text && text.length <= MAX_STRING_LENGTH;
}

const ID_LENGTH = 18;

/** The 18 characters of an id as Salesforce answers it: its last three tell which of the first fifteen are upper-case. */
export function isId(text: string): boolean {
  if (text.length !== ID_LENGTH || !/^[A-Za-z0-9]{15}[A-Z0-5]{3}$/.test(text)) return false;
  return text.slice(15) === checksumOf(text.slice(0, 15));
}

const CHECKSUM_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** One letter for each five characters: a bit for each upper-case one of them, the first counting least. */
export function checksumOf(id: string): string {
  const fives = [id.slice(0, 5), id.slice(5, 10), id.slice(10, 15)];
  return fives.map((five) => CHECKSUM_LETTERS[upperCaseBits(five)] ?? '').join('');
}

function upperCaseBits(characters: string): number {
  return [...characters].reduce((bits, character, index) => bits + (/[A-Z]/.test(character) ? 2 ** index : 0), 0);
}

/**
 * Where a value stands among those that a field can have: it is one (`possible`), it lies between two (`below` is the lower one),
 * or outside all of them. Literals that a field cannot have are refused or rounded, so they are not sent.
 */
export type Bracket =
  | { readonly kind: 'possible'; readonly text: string }
  | { readonly kind: 'between'; readonly below: string }
  | { readonly kind: 'above all' | 'below all' };

/** One more than the greatest value; the least is its negative. */
function endOf(nativeType: string | undefined): bigint {
  return nativeType === 'long' ? 2n ** 63n : 2n ** 31n;
}

export function integerRange(nativeType: string): readonly [least: string, most: string] {
  const end = endOf(nativeType);
  return [`${-end}`, `${end - 1n}`];
}

/** `text` is a canonical whole number. */
export function bracketInteger(nativeType: string | undefined, text: string): Bracket {
  const end = endOf(nativeType);
  const value = BigInt(text);
  if (value >= end) return { kind: 'above all' };
  return value < -end ? { kind: 'below all' } : { kind: 'possible', text };
}

/** Numbers have at most 18 digits, left and right of the point together. */
const MAX_DIGITS = 18;

/** `text` is a canonical decimal: no exponent, no needless zeros. */
export function bracketNumber(text: string): Bracket {
  const isNegative = text.startsWith('-');
  const [whole = '', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  if (whole.length > MAX_DIGITS) return { kind: isNegative ? 'below all' : 'above all' };
  const places = MAX_DIGITS - (whole === '0' ? 0 : whole.length);
  if (fraction.length <= places) return { kind: 'possible', text };
  const cut = BigInt(`${whole}${fraction.slice(0, places)}`);
  return { kind: 'between', below: toDecimal(isNegative ? -cut - 1n : cut, places) };
}

/** Fifteen digits of any number survive the way through a double and JSON. */
const DOUBLE_DIGITS = 15;

/** The numbers next to this one that a double surely tells from it. */
export function neighboursOf(text: string): { readonly low: string; readonly high: string } {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length;
  const places = Math.max(fraction.length, fraction.length + DOUBLE_DIGITS - digits, 0);
  const scaled = BigInt(text.replace('.', '')) * 10n ** BigInt(places - fraction.length);
  const margin = 10n ** BigInt(Math.max(0, digits + places - fraction.length - DOUBLE_DIGITS));
  return { low: toDecimal(scaled - margin, places), high: toDecimal(scaled + margin, places) };
}

function toDecimal(scaled: bigint, places: number): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const FIRST_DAY = '1700-01-01';
const LAST_DAY = '4000-12-31';

/** Dates outside of these years are refused. Source: SOQL and SOSL Reference, "Date Formats and Date Literals". */
export function bracketDay(text: string): Bracket {
  if (text < FIRST_DAY) return { kind: 'below all' };
  return text > LAST_DAY ? { kind: 'above all' } : { kind: 'possible', text };
}

/** Instants are whole seconds (Object Reference, "Primitive Data Types"). `text` is canonical UTC. */
export function bracketInstant(text: string): Bracket {
  if (text < FIRST_DAY) return { kind: 'below all' };
  if (text > `${LAST_DAY}T00:00:00Z`) return { kind: 'above all' };
  const second = `${text.slice(0, 19)}Z`;
  return text === second ? { kind: 'possible', text } : { kind: 'between', below: second };
}
