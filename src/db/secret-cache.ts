import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';

/**
 * Cache of values by the secrets that callers send. Concurrent requests with the same secret share one query. Unknown
 * secrets are cached for a moment, separately from the known ones, so guesses only displace other guesses.
 */
export interface SecretCache<Value> {
  /** Returns the value from memory if it is fresh. */
  readonly peek: (key: string) => Value | undefined;
  /**
   * Returns the value from memory if it is fresh, or loads it. `load` gets the earlier value, which shows that the
   * sender is known.
   */
  readonly find: (key: string, load: Load<Value>) => Promise<Value | undefined>;
  readonly forget: (key: string) => void;
  /**
   * Marks loads under these keys as possibly older than a change. Their current callers get the result, but it is not
   * cached.
   */
  readonly outdate: (isMeant: (key: string) => boolean) => void;
  /** Drops the unknown secrets, because one of them may be valid now. */
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

/** Callbacks for values that enter or leave the cache. */
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
