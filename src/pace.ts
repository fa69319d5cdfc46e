import { type Clock, SYSTEM_CLOCK } from './clock.ts';

/** Work over bytes that somebody else chose is done in slices, so that it keeps nobody waiting, however much it is. */
export interface Pacer {
  /** A slice has lasted long enough: pause before going on. */
  readonly isDue: () => boolean;
  /** A slice begins now: what was waited for before it kept nobody else waiting. */
  readonly begin: () => void;
  /** Lets everything else that is ready go first. @throws the reason of the signal, when it has aborted */
  readonly pause: () => Promise<void>;
}

/** What one request may add to the wait of all others; a thousandth of it is lost to the pauses. */
const SLICE_MS = 5;

/** The first slice begins now. */
export function createPacer(signal: AbortSignal, { steady }: Pick<Clock, 'steady'> = SYSTEM_CLOCK): Pacer {
  let startedAtMs = steady();
  const begin = () => {
    startedAtMs = steady();
  };
  return {
    isDue: () => steady() - startedAtMs >= SLICE_MS,
    begin,
    pause: async () => {
      await takeTurn();
      signal.throwIfAborted();
      begin();
    },
  };
}

const waiting: (() => void)[] = [];

/** One slice a turn of the event loop, over all of the process: the slices of many requests would be one long stretch again. */
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
 * What hundreds wait for comes to all of them in one moment, and so does the end of what hundreds wait for; what they do then would be one
 * long stretch: a few go on in each turn. They have a line of their own, as each of them is quickly done.
 */
export async function goOnInTurn(): Promise<void> {
  if (wentOn === 0) setImmediate(letGoOn);
  if (wentOn < MOST_IN_A_TURN) wentOn++;
  else await new Promise<void>((resolve) => held.push(resolve));
}

function letGoOn(): void {
  const next = held.splice(0, MOST_IN_A_TURN);
  wentOn = next.length;
  // Nobody overtakes those who are held still.
  if (wentOn > 0) setImmediate(letGoOn);
  for (const resume of next) resume();
}

function giveTurn(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(giveTurn);
  resume?.();
}
