import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { onCommit } from './change.ts';
import type { Notifier } from './notifier.ts';

/** Values by key, kept for a while. Callers that ask for one at the same time share a load. */
interface LoadingCache<Value> {
  /** Returns the value from memory without loading it. */
  readonly peek: (key: string) => Value | undefined;
  /** Returns the value from memory, or loads it. @throws whatever the load throws; failures are not cached */
  readonly get: (key: string) => Promise<Value | undefined>;
  /** Replaces the value in memory, or the one that is being loaded. */
  readonly set: (key: string, value: Value) => void;
  /** Drops a key. A load that began before may have read old data, so only the callers that wait for it receive its result. */
  readonly forget: (key: string) => void;
  /** Drops all values. */
  readonly clear: () => void;
}

interface LoadingCacheOptions<Value> {
  /** Loads a value. Undefined is not cached. */
  readonly load: (key: string) => Promise<Value | undefined>;
  /** Maximum number of values or, with `sizeOf`, their maximum size together. */
  readonly max: number;
  readonly keepMs: number;
  /** Returns the size of a value, a whole number above 0. Default: 1. A value above `max` is not cached. */
  readonly sizeOf?: ((value: Value) => number) | undefined;
  /** Returns monotonic milliseconds. Default: the process's clock, read once per millisecond. */
  readonly clock?: () => number;
}

/** The result of a load. A plain undefined would fail callers that wait for a load that was dropped. */
interface Loaded<Value> {
  readonly value: Value | undefined;
}

export function createLoadingCache<Value extends object>(options: LoadingCacheOptions<Value>): LoadingCache<Value> {
  const { load, max, keepMs, sizeOf = () => 1, clock } = options;
  const kept = new LRUCache<string, Loaded<Value>>({
    maxSize: max,
    sizeCalculation: ({ value }) => (value === undefined ? 1 : sizeOf(value)),
    ttl: keepMs,
    ...(clock !== undefined && { perf: { now: clock }, ttlResolution: 0 }),
    // A key that is dropped while it loads is never kept. With this option, callers that wait still receive its result.
    ignoreFetchAbort: true,
    fetchMethod: async (key) => ({ value: await load(key) }),
  });

  const peek = (key: string) => kept.get(key)?.value;

  async function loadOrJoin(key: string): Promise<Value | undefined> {
    const loaded = await kept.forceFetch(key);
    if (loaded.value === undefined && kept.peek(key) === loaded) kept.delete(key);
    return loaded.value;
  }

  return {
    peek,
    get: async (key) => peek(key) ?? loadOrJoin(key),
    set: (key, value) => void kept.set(key, { value }),
    forget: (key) => void kept.delete(key),
    clear: () => kept.clear(),
  };
}

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

type Load<Value> = (kept: Value | undefined) => Promise<Value | undefined>;

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

const MAX_KEPT = 10_000;
const KEEP_MS = 30_000;
const MAX_MISSES = 10_000;
const MISS_MS = 5_000;

/** Callbacks for values that enter or leave the cache. */
interface KeepingObserver<Value> {
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

/** Values by key, kept in memory until a change is announced by any process. */
export interface AnnouncedCache<Value> {
  /** Returns the value from memory, or loads it. Concurrent callers share one load. */
  readonly get: (key: string) => Promise<Value | undefined>;
  /**
   * Announces that the value changed: at once, or when the transaction (`via`) commits. This process drops its value then, before the
   * announcement comes back from the database.
   */
  readonly changed: (key: string, via?: Knex) => Promise<void>;
}

interface AnnouncedCacheOptions<Value> extends Pick<LoadingCacheOptions<Value>, 'load'> {
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  /** Topic of the announcements. Each cache needs its own. */
  readonly topic: string;
  /** Bounds the cache by the sizes of its values instead of their number. */
  readonly sizes?: { readonly of: (value: Value) => number; readonly max: number };
}

/** Limits of a cache that drops what is announced as changed: `keepMs` is the maximum age of a value, in case an announcement was lost. */
export const ANNOUNCED_LIMITS = { max: 10_000, keepMs: 30_000 };

export function createAnnouncedCache<Value extends object>(
  options: AnnouncedCacheOptions<Value>,
): AnnouncedCache<Value> {
  const { notifier, topic, load, sizes } = options;
  const { get, forget, clear } = createLoadingCache({
    load,
    ...ANNOUNCED_LIMITS,
    ...(sizes !== undefined && { max: sizes.max, sizeOf: sizes.of }),
  });
  notifier.subscribe(topic, forget);
  notifier.onGap(clear);

  return {
    get,
    changed: async (key, via) => {
      onCommit(via, () => forget(key));
      await notifier.publish(topic, key, via);
    },
  };
}
