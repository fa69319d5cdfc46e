/** Characters, roughly, that are printed at a time: less than a millisecond. */
const PIECE_CHARACTERS = 64 * 1024;

type Members = unknown[] | Record<string, unknown>;

/** Whether a value prints to more than a piece. Looks no further than it must. */
export function isLarge(value: unknown, pieceCharacters = PIECE_CHARACTERS): boolean {
  return charactersLeft(value, pieceCharacters) < 0;
}

/** What is left of `room` when a value is printed; below zero once it is too little. */
function charactersLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (!isMembers(value)) return room - 5;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = charactersLeft(value[index], left - 1);
    return left;
  }
  for (const name in value) {
    if (left < 0) break;
    left = charactersLeft(value[name], left - name.length - 4);
  }
  return left;
}

/** Prints JSON as `JSON.stringify` does, in pieces; each is made when it is asked for. */
export function* printPieces(value: unknown, pieceCharacters = PIECE_CHARACTERS): Generator<string, void> {
  let piece = '';
  for (const token of printTokens(value, pieceCharacters)) {
    piece += token;
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function* printTokens(value: unknown, pieceCharacters: number): Generator<string, void> {
  if (!isMembers(value) || !isLarge(value, pieceCharacters)) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* printTokens(isPrintable(item) ? item : null, pieceCharacters);
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (!isPrintable(member)) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* printTokens(member, pieceCharacters);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** What has a way of its own to be printed, like a date, is printed in one go. */
function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !hasOwnWay(value);
}

function hasOwnWay(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function isPrintable(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
