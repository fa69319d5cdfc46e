import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type { Notifier } from './notifier.ts';

/** Values by key, kept in memory until a change is announced by any process. */
export interface AnnouncedCache<Value> {
  /** From memory if it is there. Callers that ask at the same time share one load. */
  readonly get: (key: string) => Promise<Value | undefined>;
  /** Announces that the value changed: at once, or when the transaction (`via`) commits. */
  readonly changed: (key: string, via?: Knex) => Promise<void>;
}

export interface AnnouncedCacheOptions<Value> {
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  /** Of the announcements; one cache a topic. */
  readonly topic: string;
  /** What is undefined is not kept. */
  readonly load: (key: string) => Promise<Value | undefined>;
  /** Default 10,000. */
  readonly max?: number;
  /** For an announcement that was lost. Default 30,000. */
  readonly keepMs?: number;
}

export function createAnnouncedCache<Value extends object>(
  options: AnnouncedCacheOptions<Value>,
): AnnouncedCache<Value> {
  const { notifier, topic } = options;
  const kept = new LRUCache<string, Value>({ max: options.max ?? 10_000, ttl: options.keepMs ?? 30_000 });
  // A load that began before a change was announced may have read what was before: it leaves this map, and is not kept.
  const loading = new Map<string, Promise<Value | undefined>>();

  function forget(key: string): void {
    kept.delete(key);
    loading.delete(key);
  }

  notifier.subscribe(topic, forget);
  notifier.onGap(() => {
    kept.clear();
    loading.clear();
  });

  async function load(key: string): Promise<Value | undefined> {
    const promise = options.load(key);
    loading.set(key, promise);
    try {
      const value = await promise;
      if (value !== undefined && loading.get(key) === promise) kept.set(key, value);
      return value;
    } finally {
      if (loading.get(key) === promise) loading.delete(key);
    }
  }

  return {
    get: async (key) => kept.get(key) ?? loading.get(key) ?? load(key),
    changed: async (key, via) => {
      if (via === undefined) forget(key);
      await notifier.publish(topic, key, via);
    },
  };
}
