import type { Clock } from '../../src/clock.ts';

/** A clock that stands until a test advances it. */
export interface VirtualClock extends Clock {
  /**
   * Advances the clock and makes the calls that become due, each at its own time and in the order of their times. After each call `settle`
   * is awaited, so that the work of the call can end or wait in turn.
   */
  readonly advance: (ms: number, settle?: () => Promise<unknown>) => Promise<void>;
  /** Returns the milliseconds until the next call. Undefined if nothing waits. */
  readonly untilNext: () => number | undefined;
}

export function createVirtualClock(startMs = Date.UTC(2030, 0, 1)): VirtualClock {
  let nowMs = startMs;
  const waiting = new Map<object, { readonly atMs: number; readonly call: () => void }>();

  /** Returns the next call. Of calls that are due at the same time, the one that began to wait first. */
  function next() {
    let first: [object, { readonly atMs: number; readonly call: () => void }] | undefined;
    for (const one of waiting) if (first === undefined || one[1].atMs < first[1].atMs) first = one;
    return first;
  }

  return {
    now: () => nowMs,
    steady: () => nowMs - startMs,
    after: (ms, call) => {
      const key = {};
      waiting.set(key, { atMs: nowMs + Math.max(ms, 0), call });
      return () => void waiting.delete(key);
    },
    advance: async (ms, settle = nextTurn) => {
      const endMs = nowMs + ms;
      for (let due = next(); due !== undefined && due[1].atMs <= endMs; due = next()) {
        const [key, { atMs, call }] = due;
        waiting.delete(key);
        nowMs = Math.max(nowMs, atMs);
        call();
        await settle();
      }
      nowMs = endMs;
    },
    untilNext: () => {
      const due = next();
      return due && due[1].atMs - nowMs;
    },
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
