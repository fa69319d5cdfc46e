import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type { Notifier } from '../db/notifier.ts';
import type { Instance } from './instances.ts';

/** Instances by token, so that a call on a known one costs no query. */
export interface TokenCache {
  readonly find: (accountId: number, token: string) => Promise<Instance | undefined>;
  /** Forgets the instance here at once, and in every other process; with `via` at its commit. */
  readonly changed: (accountId: number, id: number, via?: Knex) => Promise<void>;
}

/** Reads an instance; `kept` is what was read before. */
export type LoadInstance = (
  accountId: number,
  token: string,
  kept: Instance | undefined,
) => Promise<Instance | undefined>;

interface Entry {
  readonly instance: Instance;
  readonly loadedAtMs: number;
}

const KEPT_INSTANCES = 10_000;
/** Changes are announced; this is for an announcement that was lost. */
const KEEP_MS = 30_000;
const TOPIC = 'instance';

export function createTokenCache(
  notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>,
  load: LoadInstance,
): TokenCache {
  const byToken = new LRUCache<string, Entry>({ max: KEPT_INSTANCES });
  // A row read before a change was announced must not be kept after it.
  let generation = 0;

  function forget(accountId: number, id: number): void {
    generation++;
    for (const [key, { instance }] of byToken.entries()) {
      if (instance.accountId === accountId && instance.id === id) byToken.delete(key);
    }
  }

  notifier.subscribe(TOPIC, (payload) => {
    const [accountId, id] = payload.split(':').map(Number);
    if (accountId !== undefined && id !== undefined) forget(accountId, id);
  });
  notifier.onGap(() => {
    generation++;
    byToken.clear();
  });

  async function reload(key: string, accountId: number, token: string): Promise<Instance | undefined> {
    const before = generation;
    const instance = await load(accountId, token, byToken.get(key)?.instance);
    if (instance === undefined) byToken.delete(key);
    else if (generation === before) byToken.set(key, { instance, loadedAtMs: performance.now() });
    return instance;
  }

  return {
    find: async (accountId, token) => {
      const key = `${accountId}:${token}`;
      const kept = byToken.get(key);
      if (kept !== undefined && performance.now() - kept.loadedAtMs < KEEP_MS) return kept.instance;
      return reload(key, accountId, token);
    },
    changed: async (accountId, id, via) => {
      forget(accountId, id);
      await notifier.publish(TOPIC, `${accountId}:${id}`, via);
    },
  };
}
