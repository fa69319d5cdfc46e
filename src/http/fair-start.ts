import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { SYSTEM_CLOCK } from '../clock.ts';

/** Maximum time in one turn of the event loop for the beginnings of requests, before other work continues. */
const TURN_MS = 5;

/** This measures the time of the process, which the clock of the service does not change. */
const { steady } = SYSTEM_CLOCK;

/** Returns the caller of a request. Requests of one caller start in their order. */
export type CallerOf = (request: IncomingMessage) => string;

/**
 * Passes requests on fairly: for a few milliseconds in each turn of the event loop, with callers taking turns. Otherwise a thousand
 * requests that one caller sends at once would be one long stretch of work, for which the requests of all others would wait. A request
 * whose caller has disconnected before its turn is not started.
 */
export function startFairly(handle: RequestListener, callerOf: CallerOf): RequestListener {
  const lines = new Map<string, (() => void)[]>();
  /** The end of the current turn for incoming requests. Undefined between turns. */
  let turnEndsAtMs: number | undefined;

  /**
   * Returns whether the turn has time left. Each request arrives in a callback of its own, so the promises of the previous one are settled
   * and their work is counted.
   */
  function hasTime(): boolean {
    const nowMs = steady();
    if (turnEndsAtMs === undefined) {
      turnEndsAtMs = nowMs + TURN_MS;
      setImmediate(giveTurn);
    }
    return nowMs < turnEndsAtMs;
  }

  async function giveTurn(): Promise<void> {
    turnEndsAtMs = undefined;
    if (lines.size === 0) return;
    const endsAtMs = steady() + TURN_MS;
    turnEndsAtMs = endsAtMs;
    for (let begin = takeNext(); begin !== undefined; begin = takeNext()) {
      begin();
      // A request continues in promises that are already resolved; they belong to its beginning.
      await promisesKept();
      if (steady() >= endsAtMs) break;
    }
    setImmediate(giveTurn);
  }

  /** Takes the first request of the caller whose turn it is. That caller then goes to the end of the queue. */
  function takeNext(): (() => void) | undefined {
    const [turn] = lines;
    if (turn === undefined) return undefined;
    const [caller, line] = turn;
    lines.delete(caller);
    const begin = line.shift();
    if (line.length > 0) lines.set(caller, line);
    return begin;
  }

  return (request, response) => {
    if (lines.size === 0 && hasTime()) return void handle(request, response);
    const caller = callerOf(request);
    const line = lines.get(caller) ?? [];
    line.push(() => {
      if (!isGone(request, response)) handle(request, response);
    });
    lines.set(caller, line);
  };
}

/** Resolves when nothing is left to do that waits for no event. */
async function promisesKept(): Promise<void> {
  // A tick that is requested inside a promise runs after all other promises. Requested elsewhere, it would run before them.
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  return request.socket.destroyed || response.destroyed;
}
