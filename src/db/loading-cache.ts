import { LRUCache } from 'lru-cache';

/** Values by key, kept for a while. Callers that ask for one at the same time share a load. */
export interface LoadingCache<Value> {
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

export interface LoadingCacheOptions<Value> {
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
