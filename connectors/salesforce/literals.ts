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

/** Maximum length of a string in a WHERE clause. Source: App Limits Cheat Sheet, "SOQL and SOSL Limits". */
export const MAX_STRING_LENGTH = 4000;

const ID_LENGTH = 18;

/** The 18 characters of an id as Salesforce answers it: its last three tell which of the first fifteen are upper-case. */
export function isId(text: string): boolean {
  if (text.length !== ID_LENGTH || !/^[A-Za-z0-9]{15}[A-Z0-5]{3}$/.test(text)) return false;
  return text.slice(15) === checksumOf(text.slice(0, 15));
}

/** Also the 15 characters that pages of Salesforce show, which tell cases apart. */
export function isAnyId(text: string): boolean {
  return /^[A-Za-z0-9]{15}$/.test(text) || isId(text);
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

export function integerRange(nativeType: string): readonly [least: string, most: string] {
  const end = nativeType === 'long' ? 2n ** 63n : 2n ** 31n;
  return [`${-end}`, `${end - 1n}`];
}
