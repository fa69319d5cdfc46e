import type { Dispatcher } from 'undici';

/** Of all answers together, in one turn of the event loop: a millisecond's worth, or a few. Everything else goes on in between. */
const BYTES_A_TURN = 1024 * 1024;
/** A body in chunks of one byte is millions of them. */
const PIECES_A_TURN = 4096;

type Controller = Pick<Dispatcher.DispatchController, 'pause' | 'resume'>;

const paused = new Set<Controller>();
let bytesTaken = 0;
let piecesTaken = 0;
let isBegun = false;

/** Counts a piece of an answer. When the turn has had its share, the answer goes on in a later one; those that wait go first. */
export function countPiece(controller: Controller, bytes: number): void {
  bytesTaken += bytes;
  piecesTaken++;
  beginTurn();
  if (!isSpent()) return;
  paused.add(controller);
  controller.pause();
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
  for (const controller of paused) {
    if (isSpent()) break;
    paused.delete(controller);
    // What came meanwhile is counted at once.
    controller.resume();
  }
  if (paused.size > 0) beginTurn();
}

function isSpent(): boolean {
  return bytesTaken >= BYTES_A_TURN || piecesTaken >= PIECES_A_TURN;
}
