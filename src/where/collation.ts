import type { Collation } from './model.ts';

/**
 * Returns a text as it is compared: unchanged for `cs`, with every character replaced by its case folding for `ci`. Both collations order
 * by code point, as `collate "C"` does in PostgreSQL with UTF-8.
 *
 * The folding is Unicode's *simple* case folding: one code point becomes one code point, whatever its neighbours are. So the folding of a
 * part of a text is a part of its folding, and `_` in a LIKE is one character of the text as it was written. Any database can do the same
 * with a table (sql.ts). `String.toLowerCase` and SQL's `lower` do not agree about a final Σ, İ, and letters that are younger than the
 * database's tables. Consequences: Σ, σ and ς are the same letter, K (the Kelvin sign) is k, ß is ẞ but not ss, and the Turkish ı and İ
 * equal only themselves. Texts are not normalised: é is not e with a combining accent.
 */
export function foldText(text: string, collation: Collation | undefined): string {
  if (collation !== 'ci') return text;
  return BEYOND_ASCII.test(text) ? foldBeyondAscii(text) : text.toLowerCase();
}

const BEYOND_ASCII = /[^\p{ASCII}]/u;

function foldBeyondAscii(text: string): string {
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const point = foldPoint(text.codePointAt(index) ?? 0);
    if (point > 0xffff) {
      units[index++] = 0xd800 + ((point - 0x1_0000) >> 10);
      units[index] = 0xdc00 + (point & 0x3ff);
    } else {
      units[index] = point;
    }
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** The foldings of 256 code points each, made on first use. */
const pages: (Uint32Array | undefined)[] = [];

/** Folding never changes how many units a character has, so offsets in a text are offsets in its folding. */
function foldPoint(point: number): number {
  if (point >= FIRST_CASELESS) return point;
  pages[point >> 8] ??= Uint32Array.from(
    { length: 256 },
    (_, index) => foldCharacter(String.fromCodePoint((point & ~0xff) + index)).codePointAt(0) ?? 0,
  );
  return pages[point >> 8]?.[point & 0xff] ?? point;
}

const DOTLESS_I = 'ı';

/** No script beyond the supplementary multilingual plane has cases. */
const FIRST_CASELESS = 0x2_0000;

function foldCharacter(character: string): string {
  if (character === DOTLESS_I) return character;
  const upper = character.toUpperCase();
  const lower = (isSingle(upper) ? upper : character).toLowerCase();
  return isSingle(lower) ? lower : character;
}

function isSingle(text: string): boolean {
  return text.length === 1 || (text.length === 2 && String.fromCodePoint(text.codePointAt(0) ?? 0) === text);
}

/** A table of foldings: each character of `from` becomes the one at the same index of `to`. */
export interface Folding {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

let everyFolding: Folding | undefined;

/** Returns the table of all characters that folding changes, about 1,500. */
export function foldingOfEverything(): Folding {
  everyFolding ??= collectFolding();
  return everyFolding;
}

function collectFolding(): Folding {
  const from: string[] = [];
  const to: string[] = [];
  for (let point = 0; point < FIRST_CASELESS; point++) {
    const character = String.fromCodePoint(point);
    const folded = foldCharacter(character);
    if (folded === character) continue;
    from.push(character);
    to.push(folded);
  }
  return { from, to };
}

/**
 * Returns the part of the table whose results occur in the text. That is enough to find the text, because no other character can become
 * part of it.
 */
export function foldingTowards(foldedText: string): Folding {
  const wanted = new Set(foldedText);
  const { from, to } = foldingOfEverything();
  const picked = from.flatMap((_, index) => (wanted.has(to[index] ?? '') ? [index] : []));
  return { from: picked.flatMap((index) => from[index] ?? []), to: picked.flatMap((index) => to[index] ?? []) };
}

/**
 * Compares two texts by code point and returns a number as for `sort`. UTF-16 order would place U+FF00 above an emoji. It reads no further
 * than the first difference.
 */
export function compareText(a: string, b: string, collation?: Collation): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a.charCodeAt(index) === b.charCodeAt(index)) continue;
    const order = collation === 'ci' ? compareFolded(a, b, index) : compareUnits(a, b, index);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareUnits(a: string, b: string, index: number): number {
  const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)];
  return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
}

/** Compares the folded characters that the units at this offset belong to. Everything before them is equal once folded. */
function compareFolded(a: string, b: string, index: number): number {
  return pointAround(a, index) - pointAround(b, index);
}

function pointAround(text: string, index: number): number {
  const before = index > 0 ? (text.codePointAt(index - 1) ?? 0) : 0;
  return foldPoint(before > 0xffff ? before : (text.codePointAt(index) ?? 0));
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
