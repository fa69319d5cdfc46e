import type { Knex } from 'knex';
import type { Clock } from '../../../clock.ts';
import { createLoadingCache } from '../../../db/caches.ts';
import { onCommit } from '../../../db/change.ts';
import { encryptionContext } from '../../../db/encrypted-columns.ts';
import { DecryptionError, type Keyring } from '../../../db/keyring.ts';
import type { Notifier } from '../../../db/notifier.ts';
import { AppError } from '../../../errors.ts';
import type { InstanceKey } from '../../instance.ts';
import { planMarginMs } from './lifetime.ts';
import type { NewTokens, TokenRow, TokenStore } from './token-store.ts';

/** The decrypted tokens of an instance. Times are on the process's monotonic clock, and infinite if there is no limit. */
export interface CachedTokens {
  readonly generation: number;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /**
   * Time from which a refresh makes sense. It is before any other time if the tokens were rejected, so that every
   * path notices.
   */
  readonly refreshAtMs: number;
  /** Time from which the provider may consider the access token expired. */
  readonly trustedUntilMs: number;
  readonly expiresAtMs: number;
  /** The earliest time of the next request to the provider, in milliseconds on the steady clock. */
  readonly retryAtMs: number;
  readonly interrupted: boolean;
  readonly failures: number;
  readonly refusedReason: string | undefined;
}

interface Secrets {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
}

/** A wait for the next announcement about the tokens of an instance. */
interface TokenWatch {
  readonly changed: Promise<void>;
  readonly hasChanged: () => boolean;
  readonly wake: () => void;
  readonly end: () => void;
}

interface CachePlatform {
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  readonly clock: Pick<Clock, 'steady'>;
}

export type TokenCache = ReturnType<typeof createTokenCache>;

const KEPT_INSTANCES = 10_000;
/** Changes are announced; this is for an announcement that was lost. */
const KEEP_MS = 30_000;
const TOPIC = 'oauth_token';

/** Creates a cache of tokens. A token stays in it until a change is announced, so a call needs no query and no decryption. */
export function createTokenCache({ keyring, notifier, clock }: CachePlatform, store: Pick<TokenStore, 'find'>) {
  const kept = createLoadingCache<CachedTokens>({
    max: KEPT_INSTANCES,
    keepMs: KEEP_MS,
    clock: clock.steady,
    load: async (name) => {
      const [accountId = 0, id = 0] = name.split(':').map(Number);
      const row = await store.find({ accountId, id });
      return row && decode({ accountId, id }, row);
    },
  });
  const watchers = new Map<string, Set<() => void>>();

  notifier.subscribe(TOPIC, (payload) => {
    const [accountId, id, generation] = payload.split(':');
    const name = `${accountId}:${id}`;
    const isNews = generation === undefined || Number(generation) > (kept.peek(name)?.generation ?? 0);
    if (isNews) kept.forget(name);
    for (const wake of watchers.get(name) ?? []) wake();
  });
  notifier.onGap(() => {
    kept.clear();
    for (const wakes of watchers.values()) for (const wake of wakes) wake();
  });

  function decode(key: InstanceKey, row: TokenRow): CachedTokens {
    try {
      const secrets: Secrets = JSON.parse(keyring.decrypt(row.tokens, contextOf(key)));
      return toCached(secrets, row);
    } catch (cause) {
      if (!(cause instanceof DecryptionError)) throw cause;
      const message = `The stored tokens of instance ${key.id} cannot be read. Authenticate it again.`;
      throw new AppError('INSTANCE_CREDENTIALS_FAILED', message, { cause });
    }
  }

  function toCached({ accessToken, refreshToken }: Secrets, row: Omit<TokenRow, 'tokens'>): CachedTokens {
    const nowMs = clock.steady();
    const { generation, interrupted, failures } = row;
    const refusedReason = row.refusedReason ?? undefined;
    const expiresAtMs = nowMs + (row.expiresInMs ?? Number.POSITIVE_INFINITY);
    const refreshAtMs = nowMs + (row.refreshInMs ?? row.expiresInMs ?? Number.POSITIVE_INFINITY);
    return {
      generation,
      accessToken,
      refreshToken,
      refreshAtMs: refusedReason === undefined ? refreshAtMs : Number.NEGATIVE_INFINITY,
      trustedUntilMs: expiresAtMs - planMarginMs(row),
      expiresAtMs,
      retryAtMs: nowMs + (row.retryInMs ?? Number.NEGATIVE_INFINITY),
      interrupted,
      failures,
      refusedReason,
    };
  }

  return {
    peek: (key: InstanceKey): CachedTokens | undefined => kept.peek(nameOf(key)),

    /** Reads the tokens from memory, or with one query for all simultaneous callers. */
    read: (key: InstanceKey): Promise<CachedTokens | undefined> => kept.get(nameOf(key)),

    /** Reads the tokens from the database again. */
    reload: (key: InstanceKey): Promise<CachedTokens | undefined> => {
      kept.forget(nameOf(key));
      return kept.get(nameOf(key));
    },

    decode,

    /**
     * Caches tokens that were just stored. They replace cached tokens and a read in progress. If something was announced since they were to be
     * stored, even newer ones may be there, so the next caller reads them.
     */
    keepNew: (
      key: InstanceKey,
      secrets: Secrets,
      row: Omit<NewTokens, 'tokens'> & { readonly generation: number },
      since: TokenWatch,
    ): CachedTokens => {
      const fresh = toCached(secrets, {
        ...row,
        interrupted: false,
        failures: 0,
        retryInMs: null,
        refusedReason: null,
      });
      if (since.hasChanged()) kept.forget(nameOf(key));
      else kept.set(nameOf(key), fresh);
      return fresh;
    },

    encode: (key: InstanceKey, secrets: Secrets): string => keyring.encrypt(JSON.stringify(secrets), contextOf(key)),

    /** Drops the cached tokens, in this process at once and in every other one; with `via`, at the commit. */
    changed: async (key: InstanceKey, via?: Knex): Promise<void> => {
      onCommit(via, () => kept.forget(nameOf(key)));
      await notifier.publish(TOPIC, nameOf(key), via);
    },

    /** Announces a newer generation to every process. Processes that have it keep it. */
    announce: (key: InstanceKey, generation: number): Promise<void> =>
      notifier.publish(TOPIC, `${nameOf(key)}:${generation}`),

    /** Waits for the next announcement about these tokens, or for `wake`. Call `end` when the wait is over. */
    watch: (key: InstanceKey): TokenWatch => {
      const name = nameOf(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      let hasChanged = false;
      const wake = () => {
        hasChanged = true;
        resolve();
      };
      const wakes = watchers.get(name) ?? new Set();
      watchers.set(name, wakes.add(wake));
      const end = () => {
        wakes.delete(wake);
        if (wakes.size === 0 && watchers.get(name) === wakes) watchers.delete(name);
      };
      return { changed: promise, hasChanged: () => hasChanged, wake, end };
    },
  };
}

function nameOf({ accountId, id }: InstanceKey): string {
  return `${accountId}:${id}`;
}

function contextOf({ accountId, id }: InstanceKey): string {
  return encryptionContext('oauth_token.tokens', accountId, id);
}
