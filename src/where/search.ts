/** A search for one piece of a pattern in a text. */
export interface Search<Text> {
  /** Number of characters of the piece. */
  readonly length: number;
  /** Returns whether the piece is at this offset. */
  readonly isAt: (text: Text, at: number) => boolean;
  /** Returns the first offset of the piece from `from` on, or a negative number. */
  readonly find: (text: Text, from: number) => number;
}

/** A text as code points, so that each character has one offset. */
type Points = Uint32Array;

/** Returns the code points of a text. */
export function readPoints(text: string): Points {
  const points = new Uint32Array(text.length);
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index) ?? 0;
    if (point > 0xffff) index++;
    points[count++] = point;
  }
  return points.subarray(0, count);
}

/** The code points of a piece, or undefined where any character matches. */
type Wanted = readonly (number | undefined)[];

/** Returns a search whose time no text can increase beyond a bound: Knuth-Morris-Pratt without gaps, otherwise bits. */
export function pointsPiece(wanted: Wanted): Search<Points> {
  const offsets = Uint32Array.from(wanted.flatMap((point, offset) => (point === undefined ? [] : [offset])));
  const known = Uint32Array.from(wanted.flatMap((point) => point ?? []));
  const piece: Piece = { length: wanted.length, offsets, known };
  const find = known.length === wanted.length ? runFinder(known) : gapFinder(piece);
  return { length: wanted.length, isAt: (points, at) => agreed(points, at, piece) === known.length, find };
}

interface Piece {
  readonly length: number;
  /** The offsets of the known characters in the piece, and the characters. */
  readonly offsets: Uint32Array;
  readonly known: Uint32Array;
}

/** Returns how many of the known characters match at an offset, up to the first mismatch. */
function agreed(points: Points, at: number, { offsets, known }: Piece): number {
  let count = 0;
  while (count < known.length && points[at + (offsets[count] ?? 0)] === known[count]) count++;
  return count;
}

/** Knuth-Morris-Pratt: after a mismatch it continues with the longest prefix that still matches. It never moves back in the text. */
function runFinder(known: Uint32Array): Search<Points>['find'] {
  const shorter = shorterBeginnings(known);
  return (points, from) => {
    let matched = 0;
    for (let at = from; at < points.length; at++) {
      const point = points[at];
      while (matched > 0 && point !== known[matched]) matched = shorter[matched - 1] ?? 0;
      if (point === known[matched]) matched++;
      if (matched === known.length) return at + 1 - matched;
    }
    return -1;
  };
}

/** Returns, for each prefix, the length of the longest shorter prefix that it ends with. */
function shorterBeginnings(known: Uint32Array): Uint32Array {
  const lengths = new Uint32Array(known.length);
  let matched = 0;
  for (let at = 1; at < known.length; at++) {
    while (matched > 0 && known[at] !== known[matched]) matched = lengths[matched - 1] ?? 0;
    if (known[at] === known[matched]) matched++;
    lengths[at] = matched;
  }
  return lengths;
}

/** Comparisons made offset by offset. Most searches end within them; for the rest, building the tables of bits pays off. */
const PLAIN_COMPARISONS = 4096;

/** With gaps, the text already read says little about the next offset. So it searches offset by offset first, then 32 offsets at a time. */
function gapFinder(piece: Piece): Search<Points>['find'] {
  return (points, from) => {
    const last = points.length - piece.length;
    let at = from;
    for (let compared = 0; at <= last && compared < PLAIN_COMPARISONS; at++) {
      const count = agreed(points, at, piece);
      if (count === piece.known.length) return at;
      compared += count + 1;
    }
    return at <= last ? findByBits(points, { from: at, last }, piece) : -1;
  };
}

/** Assigns each distinct character a row, from 1. */
function numberRows(known: Uint32Array): ReadonlyMap<number, number> {
  return new Map([...new Set(known)].map((point, index) => [point, index + 1] as const));
}

/**
 * Reads a stretch of the text at a time. A row of bits for each character marks its offsets in the stretch. The bits of a character,
 * shifted by its offset in the piece, are the starts where it fits; starts that are left for all characters are matches.
 */
function findByBits(
  points: Points,
  { from, last }: { readonly from: number; readonly last: number },
  { length, offsets, known }: Piece,
): number {
  const rows = numberRows(known);
  const stretch = Math.max(4096, Math.ceil(length / 32) * 32);
  const words = (stretch + 64) / 32 + Math.ceil(length / 32);
  const bits = new Int32Array((rows.size + 1) * words);
  const rowOf = rowReader(rows);
  const wordOf = (at: number, start: number) => rowOf(points[at] ?? 0) * words + ((at - start) >> 5);
  const fits: Fits = {
    bits,
    words: known.map((point, index) => rowOf(point) * words + ((offsets[index] ?? 0) >> 5)),
    shifts: offsets.map((offset) => offset & 31),
  };
  const isSeen = new Uint8Array(rows.size + 1);
  for (let start = from; start <= last; start += stretch) {
    const end = Math.min(start + stretch + length, points.length);
    isSeen.fill(0, 1);
    for (let at = start; at < end; at++) {
      const word = wordOf(at, start);
      bits[word] = (bits[word] ?? 0) | (1 << (at - start));
      isSeen[rowOf(points[at] ?? 0)] = 1;
    }
    const final = isSeen.includes(0, 1) ? start - 1 : Math.min(start + stretch - 1, last);
    for (let position = start; position <= final; position += 32) {
      const found = fitting((position - start) >> 5, fits);
      if (found === 0) continue;
      const first = position + 31 - Math.clz32(found & -found);
      return first <= last ? first : -1;
    }
    for (let at = start; at < end; at++) bits[wordOf(at, start)] = 0;
  }
  return -1;
}

interface Fits {
  readonly bits: Int32Array;
  /** For each known character, the word of its row and the bit in it that belong to the first offset of a stretch. */
  readonly words: Uint32Array;
  readonly shifts: Uint32Array;
}

/** Returns, of the 32 starts of a word, those at which every known character fits. */
function fitting(word: number, { bits, words, shifts }: Fits): number {
  let matches = -1;
  for (let index = 0; index < words.length && matches !== 0; index++) {
    const at = word + (words[index] ?? 0);
    const shift = shifts[index] ?? 0;
    // Shifting by 32 shifts by nothing, so the upper part is moved in two steps.
    matches &= ((bits[at] ?? 0) >>> shift) | (((bits[at + 1] ?? 0) << 1) << (31 - shift));
  }
  return matches;
}

/** Row 0 belongs to all characters that the piece does not contain. */
function rowReader(rows: ReadonlyMap<number, number>): (point: number) => number {
  const table = new Uint16Array(0x1_0000);
  for (const [point, row] of rows) table[point] = row;
  return (point) => (point > 0xffff ? (rows.get(point) ?? 0) : (table[point] ?? 0));
}
