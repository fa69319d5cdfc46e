import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';

/**
 * What belongs to secrets that callers send. Those who send the same at the same time share one query; what nobody has is remembered for a moment,
 * apart from what is there: guesses push out guesses only.
 */
export interface SecretCache<Value> {
  /** From memory if it is fresh. */
  readonly peek: (key: string) => Value | undefined;
  /** From memory if it is fresh. `load` gets what was kept before, which makes its sender somebody known. */
  readonly find: (key: string, load: Load<Value>) => Promise<Value | undefined>;
  readonly forget: (key: string) => void;
  /** What is being loaded under these keys may be from before a change: those who wait get it, nobody else. */
  readonly outdate: (isMeant: (key: string) => boolean) => void;
  /** What nobody had may have somebody now. */
  readonly forgetMisses: () => void;
  readonly clear: () => void;
}

export type Load<Value> = (kept: Value | undefined) => Promise<Value | undefined>;

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

const MAX_KEPT = 10_000;
const KEEP_MS = 30_000;
const MAX_MISSES = 10_000;
const MISS_MS = 5_000;

/** Told of what is kept, and of what is so no more. */
export interface KeepingObserver<Value> {
  readonly onKept: (key: string, value: Value) => void;
  readonly onDropped: (value: Value) => void;
}

export function createSecretCache<Value extends object>(
  observer?: KeepingObserver<Value>,
  clock: Clock = SYSTEM_CLOCK,
): SecretCache<Value> {
  const kept = new LRUCache<string, Entry<Value>>({
    ...atMost(MAX_KEPT),
    dispose: ({ value }) => observer?.onDropped(value),
  });
  const misses = new LRUCache<string, true>({ ...atMost(MAX_MISSES), ttl: MISS_MS, perf: { now: clock.steady } });
  // Not lru-cache's own loads: those stand among what is kept, where a guess under way would push out what is there.
  const flights = new Map<string, Promise<Value | undefined>>();

  function remember(key: string, value: Value | undefined): void {
    if (value !== undefined) {
      kept.set(key, { value, loadedAtMs: clock.steady() });
      observer?.onKept(key, value);
      return;
    }
    kept.delete(key);
    misses.set(digest(key), true);
  }

  async function fly(key: string, load: Load<Value>): Promise<Value | undefined> {
    const flight = load(kept.get(key)?.value);
    flights.set(key, flight);
    try {
      const value = await flight;
      if (flights.get(key) === flight) remember(key, value);
      return value;
    } finally {
      if (flights.get(key) === flight) flights.delete(key);
    }
  }

  function peek(key: string): Value | undefined {
    const entry = kept.get(key);
    return entry !== undefined && clock.steady() - entry.loadedAtMs < KEEP_MS ? entry.value : undefined;
  }

  return {
    peek,
    find: async (key, load) => {
      const fresh = peek(key);
      if (fresh !== undefined) return fresh;
      if (misses.has(digest(key))) return undefined;
      return flights.get(key) ?? fly(key, load);
    },
    forget: (key) => {
      kept.delete(key);
    },
    outdate: (isMeant) => {
      for (const key of flights.keys()) if (isMeant(key)) flights.delete(key);
    },
    forgetMisses: () => misses.clear(),
    clear: () => {
      kept.clear();
      misses.clear();
      flights.clear();
    },
  };
}

/** A guess may have 4 kB. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}
