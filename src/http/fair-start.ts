import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { SYSTEM_CLOCK } from '../clock.ts';

/** What the beginnings of requests may take of one turn of the event loop before everything else that is ready goes on. */
const TURN_MS = 5;

/** What is counted is the time of this process, whatever the time of the service is. */
const { steady } = SYSTEM_CLOCK;

/** @returns whose request it is; requests of one are begun in their order */
export type CallerOf = (request: IncomingMessage) => string;

/**
 * Hands requests on, a few milliseconds' worth in a turn of the event loop, and then callers take turns: a thousand requests that one
 * sends at once would otherwise be one long stretch of work, and the request of another would wait for all of them.
 * A request whose caller has gone before its turn is not begun.
 */
export function startFairly(handle: RequestListener, callerOf: CallerOf): RequestListener {
  const lines = new Map<string, (() => void)[]>();
  /** Of the turn that requests came in last; undefined when it is over. */
  let turnEndsAtMs: number | undefined;

  /** Each request comes in a callback of its own, so that the promises of the one before are kept by now: their work is counted. */
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
      // A request goes on in promises that are kept already; they are part of its beginning.
      await promisesKept();
      if (steady() >= endsAtMs) break;
    }
    setImmediate(giveTurn);
  }

  /** The first in the line of the caller whose turn it is, who then stands behind all others. */
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
  // Asked for from within a promise, a tick comes after all other promises; from elsewhere it would come before them.
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  return request.socket.destroyed || response.destroyed;
}
