import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../../bounded.ts';
import { untilAborted } from '../../../clock.ts';
import type { AccessTokens } from '../../../connector/client/index.ts';
import { isAppError } from '../../../errors.ts';
import type { Platform } from '../../../platform.ts';
import { assertUsable, type Instance, type InstanceKey } from '../../instance.ts';
import type { OAuthConnector } from '../fields.ts';
import type { RequestToken, TokenGrant } from '../token-endpoint.ts';
import { accessTokenRefused, credentialsFailed, refreshUnavailable } from '../token-failure.ts';
import { isRenewable, planLifeOf } from './lifetime.ts';
import {
  createRefresh,
  type OAuthOwner,
  REFRESH_TIMING,
  type RefreshNeighbours,
  type RefreshTiming,
  type TokenRecords,
} from './refresh.ts';
import { type CachedTokens, createTokenCache } from './token-cache.ts';
import { createTokenStore, type DueToken } from './token-store.ts';

/** An instance with the data that its tokens need. `valid` is whether the provider accepted the credentials the last time. */
export type TokenOwner = InstanceKey & Pick<Instance, 'connector' | 'config' | 'valid'>;

export type Tokens = ReturnType<typeof createTokens>;

const BATCH = 100;
const CONCURRENCY = 8;
/** Minimum time between refreshes when the provider rejects every access token, even new ones. */
const INVALID_REFRESH_MS = 60_000;
const KEPT_INSTANCES = 10_000;

/** Options for tests and measurements. */
export interface TokenOptions {
  readonly onStep?: RefreshNeighbours['onStep'];
  readonly timing?: Partial<RefreshTiming>;
}

export function createTokens(
  platform: Pick<Platform, 'knex' | 'keyring' | 'notifier' | 'log' | 'metrics' | 'clock' | 'random'>,
  { records, requestToken }: { readonly records: TokenRecords; readonly requestToken: RequestToken },
  { onStep, timing: ofTest }: TokenOptions = {},
) {
  const { log, clock } = platform;
  const timing = { ...REFRESH_TIMING, ...ofTest };
  const store = createTokenStore(platform.knex);
  const cache = createTokenCache(platform, store);
  const refresh = createRefresh(platform, { store, cache, records, requestToken, timing, onStep });
  const replacedAtMs = new LRUCache<string, number>(atMost(KEPT_INSTANCES));

  async function read(owner: OAuthOwner): Promise<CachedTokens> {
    const tokens = cache.peek(owner) ?? (await cache.read(owner));
    if (tokens === undefined) throw credentialsFailed(owner, 'It has no tokens. Authenticate this instance.');
    return tokens;
  }

  async function current(owner: OAuthOwner, signal: AbortSignal): Promise<string> {
    const tokens = await read(owner);
    const nowMs = clock.steady();
    if (nowMs < tokens.refreshAtMs) return tokens.accessToken;
    if (tokens.refusedReason !== undefined) throw credentialsFailed(owner, tokens.refusedReason);
    if (nowMs < tokens.trustedUntilMs) {
      renewInBackground(owner, tokens);
      return tokens.accessToken;
    }
    return renewOrGoOn(owner, tokens, signal);
  }

  async function renewOrGoOn(owner: OAuthOwner, tokens: CachedTokens, signal: AbortSignal): Promise<string> {
    try {
      return await renew(owner, tokens, signal);
    } catch (error) {
      if (isAppError(error, 'PROVIDER_UNAVAILABLE') && clock.steady() < tokens.expiresAtMs) return tokens.accessToken;
      throw error;
    }
  }

  /** Waits for a refresh. It continues when the caller leaves, because others may wait for it and its grant must be stored. */
  async function renew(owner: OAuthOwner, tokens: CachedTokens, signal: AbortSignal): Promise<string> {
    const waitMs = tokens.retryAtMs - clock.steady();
    if (waitMs > 0) throw refreshUnavailable(owner, waitMs);
    const patience = new AbortController();
    const endPatience = clock.after(timing.waitMs, () => patience.abort(refreshUnavailable(owner, timing.pollMs)));
    try {
      const fresh = await untilAborted(refresh.renew(owner, tokens), AbortSignal.any([signal, patience.signal]));
      return fresh.accessToken;
    } finally {
      endPatience();
    }
  }

  function renewInBackground(owner: OAuthOwner, tokens: CachedTokens): void {
    if (tokens.retryAtMs > clock.steady()) return;
    refresh.renew(owner, tokens).catch((error) => logFailure(owner, error));
  }

  async function replace(owner: OAuthOwner & TokenOwner, refused: string, signal: AbortSignal): Promise<string> {
    const tokens = await read(owner);
    if (tokens.accessToken !== refused) return current(owner, signal);
    if (!isRenewable(owner.connector, tokens) || isReplacedTooOften(owner)) throw accessTokenRefused(owner);
    return renew(owner, tokens, signal);
  }

  function isReplacedTooOften(owner: TokenOwner): boolean {
    const name = `${owner.accountId}:${owner.id}`;
    const lastMs = replacedAtMs.get(name) ?? Number.NEGATIVE_INFINITY;
    if (!owner.valid && clock.steady() - lastMs < INVALID_REFRESH_MS) return true;
    replacedAtMs.set(name, clock.steady());
    return false;
  }

  async function refreshOneDue({ accountId, id }: InstanceKey): Promise<boolean> {
    try {
      const owner = assertUsable(await records.get(accountId, id));
      const tokens = await cache.reload(owner);
      if (!isOAuth(owner) || tokens === undefined || clock.steady() < tokens.refreshAtMs) return false;
      await refresh.renew(owner, tokens);
      return true;
    } catch (error) {
      logFailure({ id }, error);
      return false;
    }
  }

  async function refreshAll(due: readonly DueToken[], signal: AbortSignal): Promise<number> {
    const waiting = due.values();
    const work = async () => {
      let refreshed = 0;
      for (const key of waiting) if (!signal.aborted && (await refreshOneDue(key))) refreshed++;
      return refreshed;
    };
    const counts = await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  function logFailure({ id }: Pick<InstanceKey, 'id'>, error: unknown): void {
    log[isAppError(error) ? 'info' : 'error'](
      { err: error, instanceId: id },
      'could not refresh the tokens of an instance',
    );
  }

  return {
    /** Stores the tokens of a new authentication, in its transaction, and removes the rejection of earlier ones. */
    store: async (via: Knex, instance: InstanceKey & { readonly connector: OAuthConnector }, grant: TokenGrant) => {
      const { accessToken, refreshToken } = grant;
      const tokens = cache.encode(instance, { accessToken, refreshToken });
      await store.replace(via, instance, { tokens, ...planLifeOf(instance.connector, grant) });
      await cache.changed(instance, via);
    },

    /**
     * Notes, in the transaction of new settings, that the provider accepts their client. A rejection of the earlier client is removed, and
     * the stored tokens are used again.
     * @returns whether there was a rejection
     */
    acceptClient: async (via: Knex, instance: InstanceKey) => {
      if (!(await store.acceptClient(via, instance))) return false;
      await cache.changed(instance, via);
      return true;
    },

    /** Returns the access tokens of an instance; undefined for a connector without OAuth. */
    of: (instance: TokenOwner): AccessTokens | undefined => {
      if (!isOAuth(instance)) return undefined;
      return {
        current: (signal) => current(instance, signal),
        replace: (refused, signal) => replace(instance, refused, signal),
      };
    },

    /**
     * Refreshes tokens ahead of their expiry, 8 at a time. A failure is logged and does not stop the others.
     * @returns the number of refreshed tokens
     */
    refreshDue: async (signal: AbortSignal) => {
      let refreshed = 0;
      for (let after: DueToken | undefined; ; ) {
        const due = await store.findDue(after, BATCH);
        refreshed += await refreshAll(due, signal);
        after = due.at(-1);
        if (due.length < BATCH || signal.aborted) return refreshed;
      }
    },

    /** Waits for refreshes in progress, at most `timeoutMs`, so that their tokens are stored. */
    close: async (timeoutMs: number) => {
      const late = Promise.withResolvers<'late'>();
      const endWait = clock.after(timeoutMs, () => late.resolve('late'));
      const outcome = await Promise.race([refresh.settled(), late.promise]);
      endWait();
      if (outcome === 'late') log.error('a refresh of tokens did not end before the stop; its grant may be lost');
    },
  };
}

function isOAuth<Owner extends TokenOwner>(owner: Owner): owner is Owner & { readonly connector: OAuthConnector } {
  return owner.connector.auth.type === 'oauth2';
}
