import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../bounded.ts';
import { createAnnouncedCache } from '../../db/caches.ts';
import { type ChangeNote, change, differences } from '../../db/change.ts';
import { encryptionContext } from '../../db/encrypted-columns.ts';
import { DecryptionError } from '../../db/keyring.ts';
import { listPage, type PageQuery } from '../../db/listing.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { missing } from '../../shared-errors.ts';
import type { EventEndpoint } from '../endpoints/endpoint.ts';
import { createEndpointReader } from '../endpoints/endpoint-reader.ts';
import { FILTERABLE_SUBSCRIPTION } from '../filter.ts';
import { hostOf } from '../lease.ts';
import type { ReadySubscription } from '../model.ts';
import { createSecret, previousExpiry, rotate, type SigningSecrets, validSecrets } from './subscription-secrets.ts';
import { createSubscriptionStore, type SubscriptionRow } from './subscription-store.ts';

/** A subscription as its owner sees it, the signing secret in clear. */
export interface Subscription extends Omit<SubscriptionRow, 'secrets' | 'deletedAt' | 'isEndpoint' | 'maxPerSecond'> {
  /** Undefined for a callback URL. */
  readonly endpoint: EventEndpoint | undefined;
  /** Undefined when the stored secret cannot be decrypted. A rotation replaces it. */
  readonly secret: string | undefined;
  /** Time until which the secret before the last rotation is valid, too. */
  readonly previousSecretExpiresAt: Date | undefined;
  /** Number of queued deliveries. */
  readonly queued: number;
  /** Number of deliveries that failed and will be retried. */
  readonly retrying: number;
}

/** Platform parts that subscriptions need. */
interface SubscriptionPlatform extends Pick<Platform, 'knex'> {
  readonly shares: Pick<Platform['shares'], 'list'>;
  readonly keyring: Pick<Platform['keyring'], 'encrypt' | 'decrypt'>;
  readonly notifier: Pick<Platform['notifier'], 'publish' | 'subscribe' | 'onGap' | 'settle'>;
  readonly log: Pick<Platform['log'], 'error'>;
  readonly random: Pick<Platform['random'], 'bytes'>;
  readonly clock: Pick<Platform['clock'], 'now'>;
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;

interface SubscriptionChanges {
  /** Event types that are stored for the subscription from now on. */
  readonly eventTypes?: readonly string[] | undefined;
  /** Whether to create a new secret. The previous one stays valid for 24 hours. */
  readonly rotateSecret?: boolean | undefined;
}

interface ReactivationTarget {
  readonly urls?: readonly string[] | undefined;
  readonly id?: number | undefined;
}

const KEPT_URLS = 50_000;

interface Kept extends ReadySubscription {
  readonly isRemoved: boolean;
}

export function createSubscriptions(platform: SubscriptionPlatform) {
  const { keyring, clock, random, shares } = platform;
  const store = createSubscriptionStore(platform.knex);
  const endpointSecrets = createEndpointReader(platform);
  /** Ids of subscriptions by URL. A URL keeps its row even when the subscription is removed, so this cache needs no announcements. */
  const idsByUrl = new LRUCache<string, number>(atMost(KEPT_URLS));
  const ready = createAnnouncedCache<Kept>({
    notifier: platform.notifier,
    topic: 'subscription',
    load: async (key) => {
      const [accountId = 0, id = 0] = key.split(':').map(Number);
      const row = await store.find(accountId, id);
      return row && toReady(row);
    },
  });

  async function toReady(row: SubscriptionRow): Promise<Kept> {
    const { accountId, id, url, state, eventTypes, deletedAt } = row;
    const secrets = validSecrets(openSecrets(row), clock.now());
    const endpoint = row.isEndpoint ? await endpointSecrets.findSending(accountId, id) : undefined;
    const isRemoved = deletedAt !== null;
    return { accountId, id, url, host: hostOf(url), state, eventTypes, secrets, endpoint, isRemoved };
  }

  function openSecrets({ accountId, id, secrets: sealed }: SubscriptionRow): SigningSecrets {
    return JSON.parse(keyring.decrypt(sealed, contextOf(accountId, id)));
  }

  /** Returns the secrets, or undefined when they cannot be decrypted, so that one broken row does not make the others unreadable. */
  function findSecrets(row: SubscriptionRow): SigningSecrets | undefined {
    try {
      return openSecrets(row);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      platform.log.error({ err: error, accountId: row.accountId, subscriptionId: row.id }, 'unreadable secrets');
      return undefined;
    }
  }

  function sealSecrets(accountId: number, id: number, secrets: SigningSecrets): string {
    return keyring.encrypt(JSON.stringify(secrets), contextOf(accountId, id));
  }

  function rotated(row: SubscriptionRow): string {
    const next = createSecret(random.bytes);
    const before = findSecrets(row);
    const after: SigningSecrets = before === undefined ? [{ secret: next }] : rotate(before, next, clock.now());
    return sealSecrets(row.accountId, row.id, after);
  }

  function newSecrets(accountId: number, id: number): string {
    return sealSecrets(accountId, id, [{ secret: createSecret(random.bytes) }]);
  }

  async function create(accountId: number, url: string): Promise<number> {
    const id = await store.nextId();
    const secrets = newSecrets(accountId, id);
    if (await store.insert({ accountId, id, url, secrets })) return id;
    const made = await store.findIdByUrl(accountId, url);
    if (made === undefined) throw new Error('A subscription vanished between two statements.');
    return made;
  }

  async function idOf(accountId: number, url: string): Promise<number> {
    const key = `${accountId}:${url}`;
    const known = idsByUrl.get(key);
    if (known !== undefined) return known;
    const id = (await store.findIdByUrl(accountId, url)) ?? (await create(accountId, url));
    idsByUrl.set(key, id);
    return id;
  }

  const find = (accountId: number, id: number) => ready.get(keyOf(accountId, id));

  async function revive(accountId: number, id: number): Promise<Kept | undefined> {
    await store.revive({ accountId, id, secrets: newSecrets(accountId, id) });
    await ready.changed(keyOf(accountId, id));
    return find(accountId, id);
  }

  async function getRow(accountId: number, id: number, stored = store): Promise<SubscriptionRow> {
    const row = await stored.find(accountId, id);
    if (row === undefined || row.deletedAt !== null) throw notFound(id);
    return row;
  }

  /** Returns the subscriptions with the numbers of their deliveries. */
  async function show(
    via: Knex,
    accountId: number,
    rows: readonly SubscriptionRow[],
  ): Promise<readonly Subscription[]> {
    const ids = rows.map(({ id }) => id);
    const tallies = await createSubscriptionStore(via).tally(accountId, ids);
    const tallyOf = new Map(tallies.map((tally) => [tally.subscriptionId, tally]));
    const endpoints = await endpointSecrets.describe(via, accountId, rows);
    return rows.map((row) => {
      const { secrets: _, deletedAt: __, isEndpoint: ___, maxPerSecond: ____, ...shown } = row;
      const secrets = findSecrets(row);
      const { queued = 0, retrying = 0 } = tallyOf.get(row.id) ?? {};
      const previousSecretExpiresAt = secrets && previousExpiry(secrets, clock.now());
      const endpoint = endpoints.get(row.id);
      return { ...shown, endpoint, secret: secrets?.[0].secret, previousSecretExpiresAt, queued, retrying };
    });
  }

  return {
    /** Returns the subscription of this URL, created if there is none. It is cached after the first lookup. */
    ensure: async (accountId: number, url: string) => {
      const id = await idOf(accountId, url);
      const kept = await find(accountId, id);
      const subscription = kept?.isRemoved === true ? await revive(accountId, id) : kept;
      if (subscription === undefined) throw new Error('A subscription vanished between two statements.');
      return subscription;
    },

    /** Returns the subscription from memory if it is cached and unchanged. */
    find,

    /**
     * Lists subscriptions from old to new.
     * @throws AppError for an invalid `where`
     */
    list: (accountId: number, query: PageQuery) =>
      shares.list(accountId, async (via) => {
        const { rows, last } = await listPage(FILTERABLE_SUBSCRIPTION, query, (selection) =>
          createSubscriptionStore(via).list(accountId, selection),
        );
        return { rows: await show(via, accountId, rows), last };
      }),

    /**
     * Returns a subscription.
     * @throws AppError NOT_FOUND
     */
    get: async (accountId: number, id: number) => {
      const [subscription] = await show(platform.knex, accountId, [await getRow(accountId, id)]);
      if (subscription === undefined) throw new Error('A row became no subscription.');
      return subscription;
    },

    /** Creates the subscription of an endpoint within the caller's transaction. @returns its id */
    insertEndpoint: async (
      via: Knex,
      row: Pick<SubscriptionRow, 'accountId' | 'url' | 'eventTypes' | 'maxPerSecond'>,
    ) => {
      const id = await store.nextId();
      await createSubscriptionStore(via).insertEndpoint({ ...row, id, secrets: newSecrets(row.accountId, id) });
      return id;
    },

    /** Changes the subscription of an endpoint within the caller's transaction. @throws AppError NOT_FOUND */
    updateEndpoint: async (
      via: Knex,
      row: Pick<SubscriptionRow, 'accountId' | 'id' | 'url' | 'eventTypes' | 'maxPerSecond'>,
    ) => {
      if (!(await createSubscriptionStore(via).updateEndpoint(row))) throw notFound(row.id);
      await ready.changed(keyOf(row.accountId, row.id), via);
    },

    /**
     * Applies all changes or none, for every process.
     * @throws AppError NOT_FOUND; CONFLICT when another request rotates the secret at the same time
     */
    update: async (accountId: number, id: number, changes: SubscriptionChanges) => {
      const { eventTypes, rotateSecret = false } = changes;
      const work = async (via: Knex) => {
        const stored = createSubscriptionStore(via);
        const row = await getRow(accountId, id, stored);
        if (eventTypes !== undefined && !(await stored.setEventTypes(accountId, id, eventTypes))) throw notFound(id);
        if (rotateSecret && !(await stored.replaceSecrets(row, { before: row.secrets, after: rotated(row) })))
          throw new AppError(
            'CONFLICT',
            `The secret of subscription ${id} was rotated by another request at the same time. Read it again.`,
          );
        await ready.changed(keyOf(accountId, id), via);
        return row;
      };
      await change(platform.knex, work, (before) => noteOf(before, changes));
      await platform.notifier.settle();
    },

    /** Removes a subscription within the caller's transaction. It is not found any more until its URL is used again. */
    remove: async (via: Knex, accountId: number, id: number) => {
      await store.remove(via, accountId, id);
      await ready.changed(keyOf(accountId, id), via);
    },

    /**
     * Removes the queued deliveries of a deleted account, and all its subscriptions once no delivery waits. Until then, outcomes of
     * deliveries are published to subscriptions.
     */
    removeSome: async (accountId: number) => {
      if ((await store.removeQueued(accountId)) === 'more') return 'more';
      const removed = await store.removeUnused(accountId);
      if (removed === undefined) return 'waits';
      for (const id of removed) await ready.changed(keyOf(accountId, id));
      return 'done';
    },

    /** Deactivates a subscription within the caller's transaction. Returns false when it was not active. */
    deactivate: async (via: Knex, accountId: number, id: number, reason: string) => {
      const deactivated = await store.deactivate(via, accountId, id, reason);
      if (deactivated) await ready.changed(keyOf(accountId, id), via);
      return deactivated;
    },

    /**
     * Reactivates deactivated subscriptions within the caller's transaction: those of the target, or all of the account.
     * @returns the reactivated subscriptions
     */
    reactivate: async (via: Knex, accountId: number, target: ReactivationTarget) => {
      const reactivated = await store.reactivate(via, accountId, target);
      for (const { id } of reactivated) await ready.changed(keyOf(accountId, id), via);
      return reactivated;
    },
  };
}

/** Returns the values for the audit log. */
function noteOf(before: SubscriptionRow, { eventTypes, rotateSecret }: SubscriptionChanges): ChangeNote {
  const changes = eventTypes === undefined ? {} : differences({ eventTypes: before.eventTypes }, { eventTypes });
  return rotateSecret === true ? { action: 'rotate', changes: { ...changes, ...NEW_SECRET } } : { changes };
}

const NEW_SECRET = { secret: { from: '********', to: '********' } };

function notFound(id: number): AppError {
  return missing('subscription', id);
}

function keyOf(accountId: number, id: number): string {
  return `${accountId}:${id}`;
}

function contextOf(accountId: number, id: number): string {
  return encryptionContext('subscription.secrets', accountId, id);
}
