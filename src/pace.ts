import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';

/** Divides long work into slices, so that other requests run in between. */
export type Pacer = ReturnType<typeof createPacer>;

/** The maximum time that one request may add to the wait of all others. A thousandth of it is lost to the pauses. */
const SLICE_MS = 5;
/** A request waits for several turns of the event loop, and background work lengthens each of them. */
const SLICE_BEHIND_CALLERS_MS = 1;

/** Creates a pacer whose first slice begins now. In work behind callers, each pause lasts until the requests of callers have ended. */
export function createPacer(signal: AbortSignal, { steady }: Pick<Clock, 'steady'> = SYSTEM_CLOCK) {
  const givesWay = behind.getStore() === true;
  const sliceMs = givesWay ? SLICE_BEHIND_CALLERS_MS : SLICE_MS;
  let startedAtMs = steady();
  const begin = (): void => {
    startedAtMs = steady();
  };
  return {
    /** Returns whether the slice has lasted long enough to pause. */
    isDue: (): boolean => steady() - startedAtMs >= sliceMs,
    /** Begins a slice, after a wait that blocked nobody. */
    begin,
    /**
     * Ends the slice and lets all other ready work run first.
     * @throws the reason of the signal if it has aborted
     */
    pause: async (): Promise<void> => {
      await (givesWay ? callers.takeTurnBehind() : takeTurn());
      signal.throwIfAborted();
      begin();
    },
  };
}

const behind = new AsyncLocalStorage<true>();

/** Runs work that lets the requests of callers go first at each pause. Don't use it for work that a request may wait for. */
export function behindCallers<Result>(work: () => Result): Result {
  return behind.run(true, work);
}

/** A request may wait for its provider for long, and there is always one where there are many: work behind them gets on all the same. */
const LONGEST_WAIT_MS = 8;
/**
 * A caller that sent a request within this time will probably send another. Until then a rest is as long as a slice, so that half of the
 * process is free.
 */
const LATELY_MS = 1_000;

/** Creates the count of the requests in progress in a process, and the queue of work behind them. */
export function createCallers(clock: Pick<Clock, 'steady' | 'after'>) {
  const resting = new Set<() => void>();
  let count = 0;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();

  /** Resolves when no request is under way, or after a while. */
  function gone(): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        endWait();
        resting.delete(goOn);
        resolve();
      };
      const endWait = clock.after(LONGEST_WAIT_MS, goOn);
      resting.add(goOn);
    });
  }

  function rest(): Promise<void> {
    if (count > 0) return gone();
    const isLately = clock.steady() - lastAtMs < LATELY_MS;
    return isLately ? new Promise((resolve) => clock.after(SLICE_BEHIND_CALLERS_MS, resolve)) : Promise.resolve();
  }

  return {
    /**
     * Notes that a request began.
     * @returns a function to call once when the request has ended
     */
    came: (): (() => void) => {
      count++;
      return () => {
        count--;
        lastAtMs = clock.steady();
        if (count === 0) for (const goOn of resting) goOn();
      };
    },
    /** Resolves when the next slice of work behind the requests may begin: when no request is in progress, or after a while. */
    takeTurnBehind: (): Promise<void> => {
      // One line for all: where one rests, another has no slice. The last one has its own before the rest of the next one begins.
      last = last.then(takeTurn).then(rest);
      return last;
    },
  };
}

/** The requests in progress in this process. */
export const callers = createCallers(SYSTEM_CLOCK);

const waiting: (() => void)[] = [];

/**
 * Waits for a turn of the event loop. Each turn has one slice of the whole process; otherwise the slices of many requests would form one
 * long block.
 */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

const MOST_IN_A_TURN = 8;
const held: (() => void)[] = [];
let wentOn = 0;

/**
 * Continues in a later turn, when many callers wait for the same event. Otherwise all of them would continue in one moment as one long
 * stretch of work. A few continue in each turn. They have a queue of their own, because each of them is done quickly.
 */
export async function goOnInTurn(): Promise<void> {
  if (wentOn === 0) setImmediate(letGoOn);
  if (wentOn < MOST_IN_A_TURN) wentOn++;
  else await new Promise<void>((resolve) => held.push(resolve));
}

function letGoOn(): void {
  const next = held.splice(0, MOST_IN_A_TURN);
  wentOn = next.length;
  // Work must not overtake the requests that are paused.
  if (wentOn > 0) setImmediate(letGoOn);
  for (const resume of next) resume();
}

function giveTurn(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(giveTurn);
  resume?.();
}

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
/** Whether the counts belong to a turn, at whose end they begin anew. */
let isCounting = false;

/**
 * Counts a piece of a body. When the budget of the turn is used up, the body is paused until a later turn; those that wait longest go
 * first.
 */
export function countPiece(flow: Flow, bytes: number): void {
  bytesTaken += bytes;
  piecesTaken++;
  if (!isCounting) setImmediate(endCount);
  isCounting = true;
  if (!isSpent()) return;
  paused.add(flow);
  flow.pause();
}

function endCount(): void {
  bytesTaken = 0;
  piecesTaken = 0;
  let resumed = 0;
  for (const flow of paused) {
    if (isSpent() || resumed++ === RESUMED_A_TURN) break;
    paused.delete(flow);
    // Pieces that arrived meanwhile are counted at once.
    flow.resume();
  }
  isCounting = paused.size > 0 || piecesTaken > 0;
  if (isCounting) setImmediate(endCount);
}

function isSpent(): boolean {
  return bytesTaken >= BYTES_A_TURN || piecesTaken >= PIECES_A_TURN;
}
