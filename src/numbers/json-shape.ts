/** The amount of values in a JSON text. */
export interface JsonShape {
  /** Maximum depth of objects and arrays inside each other. */
  readonly depth: number;
  /** Number of members of all objects and of items of all arrays, at any depth. */
  readonly members: number;
  /** Number of members or items of the outermost object or array. */
  readonly ownMembers: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** The greatest character of white space between tokens. */
const SPACE = 0x20;

/** About a millisecond of work, or somewhat more before the code is optimised. */
const PIECE_BYTES = 256 * 1024;

/**
 * Measures UTF-8 JSON without parsing it, in one pass and without allocating values. A text that is too much for the parser costs next to
 * nothing. It ends as soon as a limit of `most` is exceeded, and pauses after each piece of a large text. For a text that is no JSON the
 * result has no meaning; the parser reports the fault.
 */
export function* measureJson(
  bytes: Uint8Array,
  most: JsonShape,
  pieceBytes = PIECE_BYTES,
): Generator<undefined, JsonShape> {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let ownMembers = 0;
  let isOpen = false;
  let isInString = false;
  let end = pieceBytes;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= end) {
      yield;
      end += pieceBytes;
    }
    if (isInString) {
      at = endOfString(bytes, at, end);
      isInString = at >= end;
      // Its first byte that was not read is read next.
      if (isInString) at--;
      continue;
    }
    const byte = bytes[at] ?? SPACE;
    if (byte <= SPACE) continue;
    const isEnd = byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
    // A member ends with a comma, or with the object or array that it is the last of.
    if (byte === COMMA || (isEnd && !isOpen)) {
      members += 1;
      if (depth === 1) ownMembers += 1;
      if (members > most.members || ownMembers > most.ownMembers) break;
    }
    isOpen = byte === OPEN_ARRAY || byte === OPEN_OBJECT;
    if (isEnd) depth -= 1;
    else if (isOpen) depth += 1;
    else isInString = byte === QUOTE;
    if (depth > deepest) deepest = depth;
    if (deepest > most.depth) break;
  }
  return { depth: deepest, members, ownMembers };
}

/** Returns whether a text stays within a shape, in one run. Use it for texts of about a megabyte. */
export function isWithinShape(bytes: Uint8Array, most: JsonShape): boolean {
  const measuring = measureJson(bytes, most, Number.POSITIVE_INFINITY);
  const { depth, members, ownMembers } = measuring.next().value ?? NO_SHAPE;
  return depth <= most.depth && members <= most.members && ownMembers <= most.ownMembers;
}

const NO_SHAPE: JsonShape = { depth: 0, members: 0, ownMembers: 0 };

/** Returns the offset of the closing quote, or of the first byte that was not read, which may be one behind `end`. */
function endOfString(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
