import type { Knex } from 'knex';
import { onCommit } from './change.ts';
import { createLoadingCache, type LoadingCacheOptions } from './loading-cache.ts';
import type { Notifier } from './notifier.ts';

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

export interface AnnouncedCacheOptions<Value> extends Pick<LoadingCacheOptions<Value>, 'load'> {
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
