/** Characters, roughly, that are printed at a time: less than a millisecond. */
export const PIECE_CHARACTERS = 64 * 1024;

type JsonMembers = unknown[] | Record<string, unknown>;

/**
 * Returns whether a value prints to more than one piece. It stops counting as soon as the result is certain. `large` receives what is known
 * to be large then, which `printPieces` need not measure again.
 */
export function isLarge(
  value: unknown,
  pieceCharacters: number = PIECE_CHARACTERS,
  large: Set<unknown> = new Set(),
): boolean {
  return charactersLeft(value, pieceCharacters, large) < 0;
}

/**
 * Returns how much of `room` is left after a value is printed. Negative when it does not fit; then the value is added to `large`. Without
 * that, an object deep inside others would be measured once for each of them.
 */
function charactersLeft(value: unknown, room: number, large: Set<unknown>): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (!isMembers(value)) return room - 5;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++)
      left = charactersLeft(value[index], left - 1, large);
  } else {
    for (const name in value) {
      if (left < 0) break;
      left = charactersLeft(value[name], left - name.length - 4, large);
    }
  }
  if (left < 0) large.add(value);
  return left;
}

/** Prints JSON as `JSON.stringify` does, in pieces; each is printed when it is requested. */
export function* printPieces(
  value: unknown,
  pieceCharacters: number = PIECE_CHARACTERS,
  large: Set<unknown> = new Set(),
): Generator<string, void> {
  let piece = '';
  for (const token of printTokens(value, { pieceCharacters, large })) {
    piece += token;
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

interface Printing {
  readonly pieceCharacters: number;
  /** Known to print to more than a piece. */
  readonly large: Set<unknown>;
}

function* printTokens(value: unknown, printing: Printing): Generator<string, void> {
  if (isAtOnce(value, printing)) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      const printed = isPrintable(item) ? item : null;
      if (isAtOnce(printed, printing)) yield separator + JSON.stringify(printed);
      else {
        yield separator;
        yield* printTokens(printed, printing);
      }
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else {
    const members: Readonly<Record<string, unknown>> = Object(value);
    let separator = '{';
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (!isPrintable(member)) continue;
      const begin = `${separator}${JSON.stringify(name)}:`;
      if (isAtOnce(member, printing)) yield begin + JSON.stringify(member);
      else {
        yield begin;
        yield* printTokens(member, printing);
      }
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** Whether a value is no more than a piece. */
function isAtOnce(value: unknown, { pieceCharacters, large }: Printing): boolean {
  return !isMembers(value) || (!large.has(value) && charactersLeft(value, pieceCharacters, large) >= 0);
}

/** A value with its own form of printing, such as a date, is printed at once. */
function isMembers(value: unknown): value is JsonMembers {
  if (typeof value !== 'object' || value === null) return false;
  return !('toJSON' in value) || typeof value.toJSON !== 'function';
}

function isPrintable(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
