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

/** Returns a quoted text. Control characters without a short escape sequence become `\uXXXX`. */
export function quote(text: string): string {
  return `'${text.replace(/['\\\p{Cc}]/gu, escapeCharacter)}'`;
}

export function escapeCharacter(character: string): string {
  return ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Maximum length of a string in a WHERE clause. Source: App Limits Cheat Sheet, "SOQL and SOSL Limits". */
export const MAX_STRING_LENGTH = 4000;

const ID_LENGTH = 18;

/**
 * Returns whether a text is an id of 18 characters, as Salesforce returns them. Its last three characters encode which of the first fifteen
 * are upper-case.
 */
export function isId(text: string): boolean {
  if (text.length !== ID_LENGTH || !/^[A-Za-z0-9]{15}[A-Z0-5]{3}$/.test(text)) return false;
  return text.slice(15) === checksumOf(text.slice(0, 15));
}

/** Returns whether a text is an id of 18 characters, or one of 15 case-sensitive characters, as Salesforce's pages show them. */
export function isAnyId(text: string): boolean {
  return /^[A-Za-z0-9]{15}$/.test(text) || isId(text);
}

const CHECKSUM_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/**
 * Returns the checksum of an id: a letter for each five characters, with a bit for each upper-case one. The first character is the least
 * significant bit.
 */
export function checksumOf(id: string): string {
  const fives = [id.slice(0, 5), id.slice(5, 10), id.slice(10, 15)];
  return fives.map((five) => CHECKSUM_LETTERS[upperCaseBits(five)] ?? '').join('');
}

function upperCaseBits(characters: string): number {
  return [...characters].reduce((bits, character, index) => bits + (/[A-Z]/.test(character) ? 2 ** index : 0), 0);
}

export function integerRange(nativeType: string): readonly [least: string, most: string] {
  const end = nativeType === 'long' ? 2n ** 63n : 2n ** 31n;
  return [`${-end}`, `${end - 1n}`];
}
