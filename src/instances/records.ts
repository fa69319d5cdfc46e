import type { Knex } from 'knex';
import { ANNOUNCED_LIMITS, createLoadingCache, createSecretCache } from '../db/caches.ts';
import { onCommit } from '../db/change.ts';
import type { Notifications, Publisher } from '../events/notifications/notifications.ts';
import type { Platform } from '../platform.ts';
import { type Instance, type InstanceKey, instanceNotFound } from './instance.ts';
import type { InstanceCodec } from './instance-codec.ts';
import type { TokenGrant } from './oauth/token-endpoint.ts';
import type { InstanceStore, JudgedCall } from './store.ts';

/** The service that reads stored instances and records whether providers accept their credentials. Tokens depend on it. */
export type InstanceRecords = ReturnType<typeof createInstanceRecords>;

type JudgedInstance = InstanceKey & Pick<Instance, 'valid' | 'refusedCalls' | 'settingsVersion'>;

interface CredentialRefusal extends InstanceKey {
  readonly reason: string;
}

interface RecordNeighbours {
  readonly store: InstanceStore;
  readonly codec: InstanceCodec;
  readonly notifications: Pick<Notifications, 'prepare'>;
}

/** Maximum number of rejected calls per instance. More would add no information. */
const MOST_REFUSED_CALLS = 100;
const TOPIC = 'instance';

export function createInstanceRecords(
  { keys, notifier, shares }: Pick<Platform, 'keys' | 'notifier' | 'shares'>,
  { store, codec, notifications }: RecordNeighbours,
) {
  /** Cache keys by instance. An instance has the same token as long as it exists. */
  const cacheKeys = new Map<string, string>();
  /** Instances by account and token, so that a call on a known instance costs no query. */
  const cache = createSecretCache<Instance>({
    onKept: (key, instance) => cacheKeys.set(nameOf(instance), key),
    onDropped: (instance) => cacheKeys.delete(nameOf(instance)),
  });

  const forgetHandlers: ((key: InstanceKey) => void)[] = [];

  /** Instances by account and id. The calls of formulas and of the console name them so. */
  const byId = createLoadingCache<Instance>({ ...ANNOUNCED_LIMITS, load: loadById });

  notifier.subscribe(TOPIC, (payload) => {
    const [accountId, id] = readName(payload);
    if (accountId !== undefined && id !== undefined) forget({ accountId, id });
  });
  notifier.onGap(() => {
    cache.clear();
    byId.clear();
  });

  /** Drops an instance from the cache. A load in progress may be of this instance, so the loads of its account are repeated. */
  function forget(key: InstanceKey): void {
    byId.forget(nameOf(key));
    const cacheKey = cacheKeys.get(nameOf(key));
    if (cacheKey !== undefined) cache.forget(cacheKey);
    cache.outdate((loading) => loading.startsWith(`${key.accountId}:`));
    for (const handler of forgetHandlers) handler(key);
  }

  async function changed(accountId: number, id: number, via?: Knex): Promise<void> {
    onCommit(via, () => forget({ accountId, id }));
    await notifier.publish(TOPIC, nameOf({ accountId, id }), via);
  }

  async function load(accountId: number, token: string, kept: Instance | undefined): Promise<Instance | undefined> {
    const row = await store.findByTokenHash(accountId, keys.lookupHash(token));
    if (row === undefined) return undefined;
    // An unchanged row keeps its object, so nothing is decrypted again, and headers that are derived from it stay cached.
    return kept?.version === row.version ? kept : codec.decode(row);
  }

  async function loadById(name: string): Promise<Instance | undefined> {
    const [accountId = 0, id = 0] = readName(name);
    const row = await shares.lookUp(accountId, () => store.find(accountId, id));
    return row && codec.decode(row);
  }

  /**
   * Makes an instance invalid and publishes that.
   * @returns false when it was invalid already, or has other settings than the rejected call was made with
   */
  async function refuse(
    via: Knex,
    refusal: CredentialRefusal,
    call: JudgedCall | undefined,
    publish: Publisher,
  ): Promise<boolean> {
    const { accountId, id, reason } = refusal;
    const refused = await store.setInvalid(via, refusal, call);
    if (refused === undefined) return false;
    await publish(via, 'instance.credentials.refused', { instanceId: id, ...refused, reason });
    await changed(accountId, id, via);
    return true;
  }

  return {
    /**
     * Returns an instance.
     * @throws AppError NOT_FOUND
     */
    get: async (accountId: number, id: number) => {
      const row = await store.find(accountId, id);
      if (row === undefined) throw instanceNotFound(id);
      return codec.decode(row);
    },

    /** Returns the existing instances among the keys, in any order, by one statement. */
    getAll: async (keys: readonly InstanceKey[]) => (await store.findAll(keys)).map(codec.decode),

    /**
     * Returns the instance from memory if it is cached and unchanged.
     * @throws AppError NOT_FOUND
     */
    getCached: async (accountId: number, id: number) => {
      const instance = await byId.get(nameOf({ accountId, id }));
      if (instance === undefined) throw instanceNotFound(id);
      return instance;
    },

    /** Returns the instance from memory if it is cached and unchanged. */
    findByToken: async (accountId: number, token: string) => {
      const key = `${accountId}:${token}`;
      return cache.peek(key) ?? cache.find(key, (kept) => shares.lookUp(accountId, () => load(accountId, token, kept)));
    },

    /**
     * Records whether the provider accepted the credentials in a call; `work` is its purpose, such as `list employees`. A rejection makes
     * the instance invalid. A success makes it valid again only if the same `work` was rejected before, because a provider may allow other
     * calls without credentials. Nothing is recorded of a call that was made with other settings than the stored ones.
     */
    noteCredentials: async (
      instance: JudgedInstance,
      { kind, work }: { readonly kind: 'accepted' | 'refused'; readonly work: string },
    ) => {
      const { accountId, id, settingsVersion } = instance;
      const call = { work, settingsVersion };
      const wasRefused = instance.refusedCalls.includes(work);
      if (kind === 'accepted') {
        if (wasRefused && (await store.setValid(accountId, id, call))) await changed(accountId, id);
        return;
      }
      // Only one of many failing calls writes.
      if (!instance.valid && wasRefused) return;
      const publish = await notifications.prepare(accountId);
      const refusal = { accountId, id, reason: `The provider refuses the credentials for '${work}'.` };
      await store.transaction(async (via) => {
        if (await refuse(via, refusal, call, publish)) return;
        const isAdded = await store.addRefusedCall(via, { ...call, accountId, id, most: MOST_REFUSED_CALLS });
        if (isAdded) await changed(accountId, id, via);
      });
    },

    /** Makes the instance valid, because the provider granted access again. */
    restore: async ({ accountId, id }: InstanceKey) => {
      if (await store.setValid(accountId, id)) await changed(accountId, id);
    },

    /** Makes the instance invalid, because its credentials can no longer be used for a known reason. */
    invalidate: async (refusal: CredentialRefusal, via: Knex) => {
      const { accountId, id, reason } = refusal;
      if (await refuse(via, refusal, undefined, await notifications.prepare(accountId))) return;
      await store.setInvalidReason(via, accountId, id, reason);
      await changed(accountId, id, via);
    },

    /** Stores values that the provider sent with new tokens, after their check, in the configuration. */
    adoptValues: async ({ accountId, id, values }: InstanceKey & Pick<TokenGrant, 'values'>, via: Knex) => {
      const row = await store.lock(via, accountId, id);
      if (row === undefined) return;
      const { connector, config, fault } = codec.decode(row);
      if (fault !== undefined || Object.entries(values).every(([key, value]) => config[key] === value)) return;
      const settings = codec.encodeSettings(connector, { ...config, ...values }, { accountId, id });
      await store.update(via, accountId, id, settings);
      await changed(accountId, id, via);
    },

    /**
     * Stores why no events arrive; null if they can arrive.
     * @returns whether the stored warning changed
     */
    noteEventWarning: async ({ accountId, id }: InstanceKey, warning: string | null) => {
      const isNews = await store.setEventWarning(accountId, id, warning);
      if (isNews) await changed(accountId, id);
      return isNews;
    },

    /** Drops the cached instance, in this process at once and in every other one; with `via`, at the commit. Call it after every change. */
    changed,

    /** Calls the handler for each instance that another cache must drop too, because this or another process changed it. */
    onForgotten: (handler: (key: InstanceKey) => void) => {
      forgetHandlers.push(handler);
    },
  };
}

function nameOf({ accountId, id }: InstanceKey): string {
  return `${accountId}:${id}`;
}

function readName(name: string): readonly number[] {
  return name.split(':').map(Number);
}
