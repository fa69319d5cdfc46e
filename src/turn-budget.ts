/** Maximum number of bytes of all bodies in one turn of the event loop: about a millisecond of work. Other work runs in between. */
const BYTES_A_TURN = 1024 * 1024;
/** A body in chunks of one byte is millions of them. */
const PIECES_A_TURN = 4096;
/** Each of them has up to 64 kB at once. */
const RESUMED_A_TURN = 16;

/** Connection that a body is read from. */
export interface Flow {
  /** Pauses reading. It can be called again while reading is paused. */
  readonly pause: () => void;
  readonly resume: () => void;
}

const paused = new Set<Flow>();
let bytesTaken = 0;
let piecesTaken = 0;
let isBegun = false;

/**
 * Counts a piece of a body. When the budget of the turn is used up, the body is paused until a later turn; those that wait longest go
 * first.
 */
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
    // Pieces that arrived meanwhile are counted at once.
    flow.resume();
  }
  if (paused.size > 0) beginTurn();
}

function isSpent(): boolean {
  return bytesTaken >= BYTES_A_TURN || piecesTaken >= PIECES_A_TURN;
}
