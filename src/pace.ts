import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, SYSTEM_CLOCK, sleep } from './clock.ts';

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
/** A request waits for several turns of the event loop: each of them is so much longer by work that nobody waits for. */
const SLICE_BEHIND_CALLERS_MS = 1;

/** The first slice begins now. Where work goes on behind callers, each pause lasts until they have gone. */
export function createPacer(signal: AbortSignal, { steady }: Pick<Clock, 'steady'> = SYSTEM_CLOCK): Pacer {
  const givesWay = behind.getStore() === true;
  const sliceMs = givesWay ? SLICE_BEHIND_CALLERS_MS : SLICE_MS;
  let startedAtMs = steady();
  const begin = () => {
    startedAtMs = steady();
  };
  return {
    isDue: () => steady() - startedAtMs >= sliceMs,
    begin,
    pause: async () => {
      await (givesWay ? takeTurnBehind() : takeTurn());
      signal.throwIfAborted();
      begin();
    },
  };
}

const behind = new AsyncLocalStorage<true>();

/** What the pacers in this work pace lets requests of callers go first. Not for work that a request may wait for. */
export function behindCallers<Result>(work: () => Result): Result {
  return behind.run(true, work);
}

/** A request may wait for its provider for long, and there is always one where there are many: work behind them gets on all the same. */
const LONGEST_WAIT_MS = 8;
/** Who has called a moment ago calls again. Until then each pause is as long as a slice, so that half of the process is free for it. */
const LATELY_MS = 1_000;

const resting = new Set<() => void>();
let callers = 0;
let lastCallAtMs = Number.NEGATIVE_INFINITY;

/** A request of a caller begins. @returns what says that it has ended; once */
export function callerCame(): () => void {
  callers++;
  return () => {
    callers--;
    lastCallAtMs = SYSTEM_CLOCK.steady();
    if (callers === 0) for (const goOn of resting) goOn();
  };
}

let lastBehind: Promise<void> = Promise.resolve();

/** All that is behind callers goes in one line: what one rests, another would not use for a slice of its own. */
function takeTurnBehind(): Promise<void> {
  // What goes on now has its slice before the rest of the next one begins.
  lastBehind = lastBehind.then(takeTurn).then(giveWay);
  return lastBehind;
}

async function giveWay(): Promise<void> {
  if (callers > 0) await callersGone();
  else if (SYSTEM_CLOCK.steady() - lastCallAtMs < LATELY_MS) await sleep(SYSTEM_CLOCK, SLICE_BEHIND_CALLERS_MS);
}

/** Resolves when no request is under way, or after a while. */
function callersGone(): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      endWait();
      resting.delete(goOn);
      resolve();
    };
    const endWait = SYSTEM_CLOCK.after(LONGEST_WAIT_MS, goOn);
    resting.add(goOn);
  });
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
