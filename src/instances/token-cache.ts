import type { Knex } from 'knex';
import type { Notifier } from '../db/notifier.ts';
import type { PoolShares } from '../db/pool-shares.ts';
import { createSecretCache } from '../db/secret-cache.ts';
import type { Instance } from './instance.ts';

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

export interface TokenCachePorts {
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  readonly shares: Pick<PoolShares, 'lookUp'>;
  readonly load: LoadInstance;
}

const TOPIC = 'instance';

export function createTokenCache({ notifier, shares, load }: TokenCachePorts): TokenCache {
  /** An instance has one token as long as it is there. */
  const keysById = new Map<string, string>();
  const cache = createSecretCache<Instance>({
    onKept: (key, { accountId, id }) => keysById.set(idOf(accountId, id), key),
    onDropped: ({ accountId, id }) => keysById.delete(idOf(accountId, id)),
  });

  /** A load under way may be of this instance: only those of its account are done again. */
  function forget(accountId: number, id: number): void {
    const key = keysById.get(idOf(accountId, id));
    if (key !== undefined) cache.forget(key);
    cache.outdate((loading) => loading.startsWith(`${accountId}:`));
  }

  notifier.subscribe(TOPIC, (payload) => {
    const [accountId, id] = payload.split(':').map(Number);
    if (accountId !== undefined && id !== undefined) forget(accountId, id);
  });
  notifier.onGap(cache.clear);

  return {
    find: (accountId, token) =>
      cache.find(`${accountId}:${token}`, (kept) => shares.lookUp(accountId, () => load(accountId, token, kept))),
    changed: async (accountId, id, via) => {
      forget(accountId, id);
      await notifier.publish(TOPIC, `${accountId}:${id}`, via);
    },
  };
}

function idOf(accountId: number, id: number): string {
  return `${accountId}:${id}`;
}
