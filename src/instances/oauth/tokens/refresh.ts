import { randomUUID } from 'node:crypto';
import { sleep } from '../../../clock.ts';
import type { Platform } from '../../../platform.ts';
import { isSameSecret } from '../../credential-change.ts';
import { assertUsable, type Instance, type InstanceKey } from '../../instance.ts';
import type { InstanceRecords } from '../../records.ts';
import {
  clientCredentialsRequest,
  type OAuthClient,
  type RequestToken,
  refreshRequest,
  type TokenGrant,
  type TokenRequest,
} from '../token-endpoint.ts';
import { credentialsFailed, describeRefusal, refreshUnavailable, TokenError } from '../token-failure.ts';
import { planBackoffMs, planLifeOf, shortenLifetime } from './lifetime.ts';
import type { CachedTokens, TokenCache } from './token-cache.ts';
import type { RefreshLease, Refusal, TokenStore } from './token-store.ts';

/** An instance whose tokens are refreshed. */
export interface OAuthOwner extends InstanceKey, OAuthClient {}

/** Changes to the row of an instance that follow a change of its tokens. */
export interface TokenRecords extends Pick<InstanceRecords, 'restore' | 'invalidate' | 'adoptValues'> {
  /** Reads the instance from the database. @throws AppError NOT_FOUND */
  readonly get: (accountId: number, id: number) => Promise<StoredOwner>;
}

type StoredOwner = InstanceKey & Pick<Instance, 'connector' | 'config' | 'valid' | 'settingsVersion' | 'fault'>;

/** Steps of a refresh, between which a process may crash: before the intent is stored, after it, and so on. */
export type RefreshStep = 'intending' | 'intended' | 'responded' | 'committed';

export interface RefreshTiming {
  /** Time in milliseconds for which one process has the exclusive right to refresh. */
  readonly leaseMs: number;
  /**
   * Time in milliseconds for which a process that takes over an expired lease lets the earlier holder store its response. It is longer than the
   * pause between two attempts to store it.
   */
  readonly graceMs: number;
  /**
   * Time limit of the token request in milliseconds. It is shorter than the lease, so that normally no other process
   * starts before the request ends.
   */
  readonly requestMs: number;
  /** Time in milliseconds that a caller waits for a refresh, its own or another process's. */
  readonly waitMs: number;
  /** Time between two looks at the database while another process refreshes, should its announcement be lost. */
  readonly pollMs: number;
  /** Time in milliseconds for which granted tokens stay in memory while the database cannot store them. */
  readonly commitMs: number;
}

const MOST_COMMIT_BACKOFF_MS = 5_000;

export const REFRESH_TIMING: RefreshTiming = {
  leaseMs: 30_000,
  graceMs: 2 * MOST_COMMIT_BACKOFF_MS,
  requestMs: 20_000,
  waitMs: 25_000,
  pollMs: 500,
  commitMs: 600_000,
};

export interface RefreshNeighbours {
  readonly store: TokenStore;
  readonly cache: TokenCache;
  readonly records: TokenRecords;
  readonly requestToken: RequestToken;
  readonly timing: RefreshTiming;
  /** Called at each step of a refresh, which waits for the result. For tests and measurements only. */
  readonly onStep: ((step: RefreshStep, key: InstanceKey) => Promise<void> | void) | undefined;
}

const BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/**
 * Creates the refresh of tokens. Over all processes, an instance has one refresh at a time, and no transaction is open during the request
 * to the provider. A refresh takes a lease, sends the request, and stores the grant unless newer tokens exist. No caller receives the new
 * access token before its refresh token is stored.
 */
export function createRefresh(
  { log, metrics, clock, random }: Pick<Platform, 'log' | 'metrics' | 'clock' | 'random'>,
  { store, cache, records, requestToken, timing, onStep }: RefreshNeighbours,
) {
  const flights = new Map<string, Promise<CachedTokens>>();
  const observe = metrics.observer({
    name: 'causeway_token_refresh_duration_seconds',
    help: 'Duration of refreshes of access tokens, by element and outcome: granted, refused (permanently), unreachable (the provider granted nothing), unknown (the provider may have granted a token).',
    labelNames: ['element', 'outcome'],
    buckets: BUCKETS_SECONDS,
  });

  /** Returns tokens of a newer generation than `from`, refreshed by this process or another one. */
  function renew(owner: OAuthOwner, from: CachedTokens): Promise<CachedTokens> {
    const name = `${owner.accountId}:${owner.id}:${from.generation}`;
    const running = flights.get(name);
    if (running !== undefined) return running;
    const flight = untilNewer(owner, from).finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  }

  async function untilNewer(owner: OAuthOwner, from: CachedTokens): Promise<CachedTokens> {
    const giveUpAtMs = clock.steady() + timing.waitMs;
    for (;;) {
      const watch = cache.watch(owner);
      try {
        const outcome = await attempt(owner, from);
        if (outcome !== undefined) return outcome;
        if (clock.steady() >= giveUpAtMs) throw refreshUnavailable(owner, timing.pollMs);
        const endWait = clock.after(timing.pollMs, watch.wake);
        await watch.changed;
        endWait();
      } finally {
        watch.end();
      }
    }
  }

  /**
   * Tries to refresh tokens.
   * @returns undefined while another process refreshes them
   * @throws AppError when there is nothing to wait for
   */
  async function attempt(owner: OAuthOwner, from: CachedTokens): Promise<CachedTokens | undefined> {
    await onStep?.('intending', owner);
    const lease = { leaseId: randomUUID(), generation: from.generation };
    // Counts from before the statement, because the response of the database may be late.
    let leasedAtMs = clock.steady();
    const row = await store.takeLease(owner, lease, timing.leaseMs);
    if (row !== undefined) {
      const held = cache.decode(owner, row);
      if (!row.isTakenOver) return useLease(owner, { ...lease, leasedAtMs }, held);
      await awaitHolder(owner, held);
      leasedAtMs = clock.steady();
      if (await store.renewLease(owner, lease, timing.leaseMs)) return useLease(owner, { ...lease, leasedAtMs }, held);
      await store.releaseUnused(owner, lease);
    }
    const now = await cache.reload(owner);
    if (now === undefined) throw tokensDeleted(owner);
    if (now.generation > from.generation) return now;
    if (now.refusedReason !== undefined) throw credentialsFailed(owner, now.refusedReason);
    if (now.retryAtMs > clock.steady()) throw refreshUnavailable(owner, now.retryAtMs - clock.steady());
    return undefined;
  }

  /**
   * Waits for the response of the process whose expired lease was taken over. After an outage of the database that process may have new tokens
   * in memory, and stores them now. A provider that detects the reuse of a refresh token would revoke them.
   */
  async function awaitHolder(owner: OAuthOwner, from: CachedTokens): Promise<void> {
    const giveUpAtMs = clock.steady() + timing.graceMs;
    let now: CachedTokens | undefined = from;
    while (now?.generation === from.generation && clock.steady() < giveUpAtMs) {
      const watch = cache.watch(owner);
      const endWait = clock.after(Math.min(timing.pollMs, giveUpAtMs - clock.steady()), watch.wake);
      await watch.changed;
      endWait();
      watch.end();
      now = await cache.reload(owner);
    }
  }

  async function useLease(
    owner: OAuthOwner,
    lease: RefreshLease & { readonly leasedAtMs: number },
    from: CachedTokens,
  ): Promise<CachedTokens | undefined> {
    await onStep?.('intended', owner);
    const askedAtMs = clock.steady();
    // This process stood still. Another one may have used the refresh token, or may begin to while this one waits for the response.
    if (askedAtMs - lease.leasedAtMs > timing.leaseMs - timing.requestMs) {
      await store.release(owner, lease);
      return attempt(owner, from);
    }
    const outcome = await ask(owner, from);
    const respondedAtMs = clock.steady();
    const kind = outcome instanceof TokenError ? outcome.kind : 'granted';
    observe((respondedAtMs - askedAtMs) / 1000, owner.connector.key, kind);
    if (outcome instanceof TokenError) return goWithout(owner, lease, from, outcome);
    await onStep?.('responded', owner);
    return storeGrant(owner, lease, from, { grant: outcome, respondedAtMs });
  }

  async function ask(owner: OAuthOwner, { refreshToken }: CachedTokens): Promise<TokenGrant | TokenError> {
    const request = renewalRequest(owner, refreshToken);
    if (request === undefined) return new TokenError('refused', 'it issued no refresh token');
    const givenUp = new AbortController();
    const endWait = clock.after(timing.requestMs, () => givenUp.abort());
    try {
      return await requestToken(request, givenUp.signal);
    } catch (error) {
      if (error instanceof TokenError) return error;
      log.error({ err: error, instanceId: owner.id }, 'a refresh of tokens failed unexpectedly');
      return new TokenError('unknown', 'The refresh failed unexpectedly.', { cause: error });
    } finally {
      endWait();
    }
  }

  async function storeGrant(
    owner: OAuthOwner,
    lease: RefreshLease,
    from: CachedTokens,
    { grant, respondedAtMs }: { readonly grant: TokenGrant; readonly respondedAtMs: number },
  ): Promise<CachedTokens> {
    const secrets = { accessToken: grant.accessToken, refreshToken: grant.refreshToken ?? from.refreshToken };
    const life = planLifeOf(owner.connector, { ...secrets, expiresInSeconds: grant.expiresInSeconds });
    const tokens = cache.encode(owner, secrets);
    const remaining = () => shortenLifetime(life, clock.steady() - respondedAtMs);
    const watch = cache.watch(owner);
    const stored = await keepTrying(owner, respondedAtMs, () =>
      store.commit(owner, lease, { tokens, ...remaining() }),
    ).finally(watch.end);
    if (stored === undefined) return takeNewer(owner, from);
    const { generation, wasRefused } = stored;
    const fresh = cache.keepNew(owner, secrets, { generation, ...remaining() }, watch);
    await onStep?.('committed', owner);
    await unlessItFails(() => cache.announce(owner, generation));
    // The tokens are safe. Values that are not stored now are stored at the next refresh.
    await unlessItFails(() => passOnValues(owner, grant, generation));
    if (wasRefused) await unlessItFails(() => records.restore(owner));
    return fresh;
  }

  /** Stores the values that came with the newest tokens. After a re-authentication in between, the newer values stay. */
  async function passOnValues(owner: OAuthOwner, { values }: TokenGrant, generation: number): Promise<void> {
    if (Object.entries(values).every(([key, value]) => owner.config[key] === value)) return;
    const { accountId, id } = owner;
    await store.transaction(async (via) => {
      await store.lockSettings(via, owner);
      const now = await store.find(owner, via);
      if (now?.generation === generation) await records.adoptValues({ accountId, id, values }, via);
    });
  }

  /** Repeats work on the database until it succeeds, because this process may have the only copy of a rotated refresh token. */
  async function keepTrying<Result>(owner: InstanceKey, sinceMs: number, work: () => Promise<Result>): Promise<Result> {
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        if (clock.steady() - sinceMs > timing.commitMs) throw error;
        log.error({ err: error, instanceId: owner.id, failures }, 'could not store refreshed tokens; trying again');
      }
      await sleep(clock, Math.min(MOST_COMMIT_BACKOFF_MS, planBackoffMs(random.fraction, failures) / 4));
    }
  }

  /** Returns the newer tokens of the database: the grant came too late, or it was stored although the database could not confirm it. */
  async function takeNewer(owner: OAuthOwner, from: CachedTokens): Promise<CachedTokens> {
    const now = await cache.reload(owner);
    if (now !== undefined && now.generation > from.generation) return now;
    throw tokensDeleted(owner);
  }

  async function goWithout(
    owner: OAuthOwner,
    lease: RefreshLease,
    from: CachedTokens,
    error: TokenError,
  ): Promise<CachedTokens | undefined> {
    if (error.kind === 'refused') return giveUp(owner, lease, from, describeRefusal(error, from.interrupted));
    const retryInMs = planBackoffMs(random.fraction, from.failures + 1, error.retryAfterMs);
    const { message, kind } = error;
    log.warn({ instanceId: owner.id, kind, reason: message, retryInMs }, 'could not refresh tokens');
    await store.postpone(owner, lease, { retryInMs, interrupted: kind === 'unknown' });
    await unlessItFails(() => cache.changed(owner));
    throw refreshUnavailable(owner, retryInMs, error);
  }

  async function giveUp(
    owner: OAuthOwner,
    lease: RefreshLease,
    from: CachedTokens,
    refusal: Refusal,
  ): Promise<CachedTokens | undefined> {
    if (refusal.kind === 'client') return giveUpClient(owner, lease, from, refusal);
    if (await noteRefusal(owner, lease, refusal)) throw credentialsFailed(owner, refusal.reason);
    await store.release(owner, lease);
    // Newer tokens came in between: what was refused is not theirs.
    return takeNewer(owner, from);
  }

  /** If the secret was changed meanwhile, the provider rejected the old one. The new one is tried before anybody is notified. */
  async function giveUpClient(
    owner: OAuthOwner,
    lease: RefreshLease,
    from: CachedTokens,
    refusal: Refusal,
  ): Promise<CachedTokens | undefined> {
    const { config, settingsVersion } = assertUsable(await records.get(owner.accountId, owner.id));
    const isStillThere = isSameSecret(owner.config, config);
    if (isStillThere && (await noteRefusal(owner, lease, refusal, settingsVersion))) {
      throw credentialsFailed(owner, refusal.reason);
    }
    await store.release(owner, lease);
    return attempt({ ...owner, config }, from);
  }

  /**
   * Stores the rejection of a refresh.
   * @returns false if the rejected tokens were replaced meanwhile
   */
  function noteRefusal(
    owner: OAuthOwner,
    lease: RefreshLease,
    refusal: Refusal,
    settingsVersion?: number,
  ): Promise<boolean> {
    const { accountId, id } = owner;
    return store.transaction(async (via) => {
      const version = await store.lockSettings(via, owner);
      if (settingsVersion !== undefined && version !== settingsVersion) return false;
      if (!(await store.refuse(via, owner, lease, refusal))) return false;
      await records.invalidate({ accountId, id, reason: refusal.reason }, via);
      await cache.changed(owner, via);
      return true;
    });
  }

  /** Runs work and ignores its failure, which polling, the next call or the next refresh finds later. */
  async function unlessItFails(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, 'could not notify other processes of new tokens');
    }
  }

  return {
    renew,
    /** Resolves when no refresh is in progress. */
    settled: async (): Promise<void> => {
      await Promise.allSettled(flights.values());
    },
  };
}

function tokensDeleted(owner: OAuthOwner): Error {
  return credentialsFailed(owner, 'Its tokens were deleted. Authenticate this instance again.');
}

/** Returns the request for new tokens; undefined when it needs a refresh token and there is none. */
function renewalRequest(client: OAuthClient, refreshToken: string | undefined): TokenRequest | undefined {
  // RFC 6749, 4.4.3: no refresh token comes with client credentials, as they can be shown again.
  if (client.connector.auth.grant === 'clientCredentials') return clientCredentialsRequest(client);
  return refreshToken === undefined ? undefined : refreshRequest(client, refreshToken);
}
