import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import type { AccessTokens } from '../../../connector/client/index.ts';
import type { Config, Connector } from '../../../connector/contract.ts';
import { isAppError } from '../../../errors.ts';
import type { OAuthConnector, TokenGrant } from '../grant.ts';
import { createHeldTokens, type Held, type HeldPorts } from './held-tokens.ts';
import {
  createRefresh,
  isRenewable,
  type OAuthOwner,
  planLifeOf,
  type RefreshPorts,
  type StoredOwner,
} from './refresh.ts';
import { REFRESH_TIMING, type RefreshStep, type RefreshTiming } from './refresh-timing.ts';
import { accessTokenRefused, credentialsFailed, refreshUnavailable } from './refusal.ts';
import { createTokenStore, type DueToken, type TokenKey } from './token-store.ts';

export type { RefreshStep, RefreshTiming } from './refresh-timing.ts';
export type { TokenKey } from './token-store.ts';

/** An instance as far as its tokens are concerned. */
export interface TokenOwner extends TokenKey {
  readonly connector: Connector;
  readonly config: Config;
  /** Whether the provider took the credentials the last time. */
  readonly valid: boolean;
}

export interface TokenPorts
  extends Omit<HeldPorts, 'store' | 'clock'>,
    Pick<RefreshPorts, 'endpoint' | 'log' | 'measure' | 'onRefused' | 'onRecovered' | 'onValues'> {
  readonly knex: Knex;
  /** From the database. @throws AppError NOT_FOUND */
  readonly loadOwner: (accountId: number, id: number) => Promise<TokenOwner & StoredOwner>;
  readonly clock?: () => number;
  readonly random?: () => number;
  /** Told of every step of a refresh, which goes on when it is done. */
  readonly onStep?: (step: RefreshStep, key: TokenKey) => Promise<void> | void;
  readonly timing?: Partial<RefreshTiming>;
}

export interface Tokens {
  /** The tokens of a new authentication, in its transaction: a refusal of older ones is forgotten. */
  readonly store: (
    via: Knex,
    instance: TokenKey & { readonly connector: OAuthConnector },
    grant: TokenGrant,
  ) => Promise<void>;
  /**
   * The provider took the client of new settings, in their transaction: a refusal of the client before is forgotten, and
   * the tokens that are there are used again. @returns whether there was such a refusal
   */
  readonly acceptClient: (via: Knex, instance: TokenKey) => Promise<boolean>;
  /** Undefined for a connector without OAuth. */
  readonly of: (instance: TokenOwner) => AccessTokens | undefined;
  /** Refreshes ahead of expiry, 8 at a time. A failure is logged and stops no other. @returns how many */
  readonly refreshDue: (signal: AbortSignal) => Promise<number>;
  /** Waits for the refreshes under way, so that what they are granted is stored. At most `timeoutMs`. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

const BATCH = 100;
const CONCURRENCY = 8;
/** A provider that refuses every access token, new ones too, is asked for another only so often. */
const INVALID_REFRESH_MS = 60_000;
const KEPT_INSTANCES = 10_000;

export function createTokens(ports: TokenPorts): Tokens {
  const { log, clock = () => performance.now(), random = Math.random } = ports;
  const timing = { ...REFRESH_TIMING, ...ports.timing };
  const store = createTokenStore(ports.knex);
  const held = createHeldTokens({ ...ports, store, clock });
  const onStep = ports.onStep ?? (() => {});
  const refresh = createRefresh({ ...ports, store, held, clock, random, randomId: randomUUID, onStep, timing });
  const replacedAtMs = new LRUCache<string, number>({ max: KEPT_INSTANCES });

  async function read(owner: OAuthOwner): Promise<Held> {
    const tokens = held.peek(owner) ?? (await held.read(owner));
    if (tokens === undefined) throw credentialsFailed(owner, 'It has no tokens. Authenticate this instance.');
    return tokens;
  }

  async function current(owner: OAuthOwner, signal: AbortSignal): Promise<string> {
    const tokens = await read(owner);
    const nowMs = clock();
    if (nowMs < tokens.refreshAtMs) return tokens.accessToken;
    if (tokens.refusedReason !== undefined) throw credentialsFailed(owner, tokens.refusedReason);
    if (nowMs < tokens.trustedUntilMs) {
      renewInBackground(owner, tokens);
      return tokens.accessToken;
    }
    return renewOrGoOn(owner, tokens, signal);
  }

  async function renewOrGoOn(owner: OAuthOwner, tokens: Held, signal: AbortSignal): Promise<string> {
    try {
      return await renew(owner, tokens, signal);
    } catch (error) {
      if (isAppError(error, 'PROVIDER_UNAVAILABLE') && clock() < tokens.expiresAtMs) return tokens.accessToken;
      throw error;
    }
  }

  /** The refresh goes on when the caller goes away: others may wait for it, and its answer must be stored. */
  async function renew(owner: OAuthOwner, tokens: Held, signal: AbortSignal): Promise<string> {
    const waitMs = tokens.retryAtMs - clock();
    if (waitMs > 0) throw refreshUnavailable(owner, waitMs);
    const patience = AbortSignal.timeout(timing.waitMs);
    try {
      const fresh = await untilAborted(refresh.renew(owner, tokens), AbortSignal.any([signal, patience]));
      return fresh.accessToken;
    } catch (error) {
      if (patience.aborted && error === patience.reason) throw refreshUnavailable(owner, timing.pollMs);
      throw error;
    }
  }

  function renewInBackground(owner: OAuthOwner, tokens: Held): void {
    if (tokens.retryAtMs > clock()) return;
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
    if (!owner.valid && clock() - lastMs < INVALID_REFRESH_MS) return true;
    replacedAtMs.set(name, clock());
    return false;
  }

  async function refreshOneDue({ accountId, id }: TokenKey): Promise<boolean> {
    try {
      const owner = await ports.loadOwner(accountId, id);
      const tokens = await held.reload(owner);
      if (!isOAuth(owner) || tokens === undefined || clock() < tokens.refreshAtMs) return false;
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

  function logFailure({ id }: Pick<TokenKey, 'id'>, error: unknown): void {
    log[isAppError(error) ? 'info' : 'error']({ err: error, instanceId: id }, 'tokens were not refreshed');
  }

  return {
    store: async (via, instance, grant) => {
      const { accessToken, refreshToken } = grant;
      const tokens = held.encode(instance, { accessToken, refreshToken });
      await store.replace(via, instance, { tokens, ...planLifeOf(instance.connector, grant) });
      await held.changed(instance, via);
    },

    acceptClient: async (via, instance) => {
      if (!(await store.acceptClient(via, instance))) return false;
      await held.changed(instance, via);
      return true;
    },

    of: (instance) => {
      if (!isOAuth(instance)) return undefined;
      return {
        current: (signal) => current(instance, signal),
        replace: (refused, signal) => replace(instance, refused, signal),
      };
    },

    refreshDue: async (signal) => {
      let refreshed = 0;
      for (let after: DueToken | undefined; ; ) {
        const due = await store.findDue(after, BATCH);
        refreshed += await refreshAll(due, signal);
        after = due.at(-1);
        if (due.length < BATCH || signal.aborted) return refreshed;
      }
    },

    close: async (timeoutMs) => {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        await untilAborted(refresh.settled(), timeout);
      } catch (error) {
        if (!timeout.aborted) throw error;
        log.error('a refresh of tokens did not end in time; what it is granted may be lost');
      }
    },
  };
}

function isOAuth<Owner extends TokenOwner>(owner: Owner): owner is Owner & { readonly connector: OAuthConnector } {
  return owner.connector.auth.type === 'oauth2';
}

function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
