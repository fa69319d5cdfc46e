import type { Collation } from './model.ts';

/**
 * How texts compare. Both collations order by code point, as `collate "C"` does in a UTF-8 PostgreSQL; `ci` first replaces
 * every character by its case folding.
 *
 * The folding is Unicode's *simple* one: one code point for one code point, whatever stands around it. So the folding of a part
 * of a text is a part of its folding, `_` in a LIKE is one character of the text as written, and any database can do the same
 * with a table (sql.ts). `String.toLowerCase` and SQL's `lower` do not agree: a final Σ, İ, and letters younger than the
 * database's tables come out differently. What follows: Σ, σ and ς are the same letter, K (the Kelvin sign) is k, ß is ẞ but
 * not ss, and the Turkish ı and İ are only themselves. Texts are not normalised: é is not e with a combining accent.
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

/** The foldings of 256 code points each, made when one of them is met. */
const pages: (Uint32Array | undefined)[] = [];

/** No folding changes how many units a character takes, so places in a text are places in its folding. */
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

/** Two lists of equal length: each character of `from` folds to the one at its place in `to`. */
export interface Folding {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

let everyFolding: Folding | undefined;

/** All characters that folding changes, about 1,500. */
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

/** Only the characters that fold to one of the text: enough to find it, because any other cannot become part of it. */
export function foldingTowards(foldedText: string): Folding {
  const wanted = new Set(foldedText);
  const { from, to } = foldingOfEverything();
  const picked = from.flatMap((_, index) => (wanted.has(to[index] ?? '') ? [index] : []));
  return { from: picked.flatMap((index) => from[index] ?? []), to: picked.flatMap((index) => to[index] ?? []) };
}

/** By code point: UTF-16 order would put U+FF00 above an emoji. Reads no further than the first difference. */
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

/** The character that the unit at this place belongs to, folded. All before it is the same in both texts, once folded. */
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
