/** Something to be looked for in a text. */
export interface Search<Text> {
  readonly length: number;
  readonly isAt: (text: Text, at: number) => boolean;
  /** The first place from `from` on; negative when there is none. */
  readonly find: (text: Text, from: number) => number;
}

/** A text as code points, so that every character has one place. */
export type Points = Uint32Array;

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

/** What is looked for: code points, or undefined where any will do. */
type Wanted = readonly (number | undefined)[];

/** A search that no text makes slow: see the two ways below. */
export function pointsPiece(wanted: Wanted): Search<Points> {
  const offsets = Uint32Array.from(wanted.flatMap((point, offset) => (point === undefined ? [] : [offset])));
  const known = Uint32Array.from(wanted.flatMap((point) => point ?? []));
  const piece: Piece = { length: wanted.length, offsets, known };
  const find = known.length === wanted.length ? runFinder(known) : gapFinder(piece);
  return { length: wanted.length, isAt: (points, at) => agreed(points, at, piece) === known.length, find };
}

interface Piece {
  readonly length: number;
  /** Where in the piece a character is known, and which one. */
  readonly offsets: Uint32Array;
  readonly known: Uint32Array;
}

/** How many of the known characters a place has, up to the first that it has not. */
function agreed(points: Points, at: number, { offsets, known }: Piece): number {
  let count = 0;
  while (count < known.length && points[at + (offsets[count] ?? 0)] === known[count]) count++;
  return count;
}

/** Knuth, Morris and Pratt: after a mismatch it continues with the longest beginning that still agrees; never back in the text. */
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

/** For each length of a beginning, that of the longest shorter beginning it ends with. */
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

/** Comparisons made place by place. Most searches end within them; for the rest the tables of the second way are worth it. */
const PLAIN_COMPARISONS = 4096;

/** With gaps, what was read tells little about the next place: first place by place, then 32 places at a time. */
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

/** Each different character has a row of its own, from 1. */
function numberRows(known: Uint32Array): ReadonlyMap<number, number> {
  return new Map([...new Set(known)].map((point, index) => [point, index + 1] as const));
}

/**
 * A stretch of places at a time: a row of bits for each character says where in the stretch it stands. The bits of a
 * character, moved by its offset, are the places where it fits; what is left of all of them are matches.
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
    for (let place = start; place <= final; place += 32) {
      const found = fitting((place - start) >> 5, fits);
      if (found === 0) continue;
      const first = place + 31 - Math.clz32(found & -found);
      return first <= last ? first : -1;
    }
    for (let at = start; at < end; at++) bits[wordOf(at, start)] = 0;
  }
  return -1;
}

interface Fits {
  readonly bits: Int32Array;
  /** For each known character, the word of its row and the bit in it that belong to the first place of a stretch. */
  readonly words: Uint32Array;
  readonly shifts: Uint32Array;
}

/** Of the 32 places of a word, those where every known character stands at its offset. */
function fitting(word: number, { bits, words, shifts }: Fits): number {
  let places = -1;
  for (let index = 0; index < words.length && places !== 0; index++) {
    const at = word + (words[index] ?? 0);
    const shift = shifts[index] ?? 0;
    // Shifting by 32 shifts by nothing, so the upper part is moved in two steps.
    places &= ((bits[at] ?? 0) >>> shift) | (((bits[at + 1] ?? 0) << 1) << (31 - shift));
  }
  return places;
}

/** Row 0 is that of all characters that are not looked for. */
function rowReader(rows: ReadonlyMap<number, number>): (point: number) => number {
  const table = new Uint16Array(0x1_0000);
  for (const [point, row] of rows) table[point] = row;
  return (point) => (point > 0xffff ? (rows.get(point) ?? 0) : (table[point] ?? 0));
}
