/** Of all bodies together, in one turn of the event loop: a millisecond's worth, or a few. Everything else goes on in between. */
const BYTES_A_TURN = 1024 * 1024;
/** A body in chunks of one byte is millions of them. */
const PIECES_A_TURN = 4096;
/** Each of them has up to 64 kB at once. */
const RESUMED_A_TURN = 16;

/** Of the connection that a body comes by. */
export interface Flow {
  /** May be called again while nothing is read. */
  readonly pause: () => void;
  readonly resume: () => void;
}

const paused = new Set<Flow>();
let bytesTaken = 0;
let piecesTaken = 0;
let isBegun = false;

/** Counts a piece of a body. When the turn has had its share, the body goes on in a later one; those that wait go first. */
export function countPiece(flow: Flow, bytes: number): void {
  bytesTaken += bytes;
  piecesTaken++;
  beginTurn();
  if (!isSpent()) return;
  paused.add(flow);
  flow.pause();
}

function beginTurn(): void {
  if (isBegun) return;
  isBegun = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  isBegun = false;
  bytesTaken = 0;
  piecesTaken = 0;
  let resumed = 0;
  for (const flow of paused) {
    if (isSpent() || resumed++ === RESUMED_A_TURN) break;
    paused.delete(flow);
    // What came meanwhile is counted at once.
    flow.resume();
  }
  if (paused.size > 0) beginTurn();
}

function isSpent(): boolean {
  return bytesTaken >= BYTES_A_TURN || piecesTaken >= PIECES_A_TURN;
}
