import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from '../../log.ts';
import { type OAuthConnector, type TokenEndpoint, TokenError, type TokenGrant } from './grant.ts';
import type { Held, HeldTokens } from './held-tokens.ts';
import { type Lifetime, planBackoffMs, planLifetime, shortenLifetime } from './lifetime.ts';
import { credentialsFailed, describeRefusal, refreshUnavailable } from './refusal.ts';
import type { Lease, TokenKey, TokenStore } from './token-store.ts';

/** An instance whose tokens are refreshed. */
export interface OAuthOwner extends TokenKey {
  readonly connector: OAuthConnector;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The moments between which a process may die: before the intent is written, after it, and so on. */
export type RefreshStep = 'intending' | 'intended' | 'answered' | 'committed';

export interface RefreshTiming {
  /** How long the one who refreshes has it for itself. */
  readonly leaseMs: number;
  /** Of the token request; shorter than the lease, so that in good order nobody else begins before it ends. */
  readonly requestMs: number;
  /** How long a caller waits for a refresh, its own or another's. */
  readonly waitMs: number;
  /** Time between two looks at the database while another process refreshes, should its announcement be lost. */
  readonly pollMs: number;
  /** How long granted tokens are kept at hand while the database does not take them. */
  readonly commitMs: number;
}

export const REFRESH_TIMING: RefreshTiming = {
  leaseMs: 30_000,
  requestMs: 20_000,
  waitMs: 25_000,
  pollMs: 500,
  commitMs: 600_000,
};

export interface RefreshPorts {
  readonly store: TokenStore;
  readonly held: HeldTokens;
  readonly endpoint: Pick<TokenEndpoint, 'refresh' | 'requestClientCredentials'>;
  readonly log: Logger;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  readonly randomId: () => string;
  /** Once for every refresh token the provider refuses, in the transaction that notes it. */
  readonly onRefused: (refusal: TokenKey & { readonly reason: string }, via: Knex) => Promise<void>;
  /** Tokens that were given up were granted after all. */
  readonly onRecovered: (key: TokenKey) => Promise<void>;
  readonly onStep: (step: RefreshStep, key: TokenKey) => Promise<void> | void;
  readonly timing: RefreshTiming;
}

const MOST_COMMIT_BACKOFF_MS = 5_000;

export type Refresh = ReturnType<typeof createRefresh>;

/**
 * One refresh at a time per instance over all processes, with no transaction open while the provider is asked: a lease
 * is taken, the provider is asked, its answer is stored if nothing newer is there. Nobody sees the new access token
 * before the refresh token that came with it is stored.
 */
export function createRefresh(ports: RefreshPorts) {
  const { store, held, endpoint, log, clock, timing } = ports;
  const flights = new Map<string, Promise<Held>>();

  /** A generation above that of `from`, refreshed here or by another process. */
  function renew(owner: OAuthOwner, from: Held): Promise<Held> {
    const name = `${owner.accountId}:${owner.id}:${from.generation}`;
    const running = flights.get(name);
    if (running !== undefined) return running;
    const flight = untilNewer(owner, from).finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  }

  async function untilNewer(owner: OAuthOwner, from: Held): Promise<Held> {
    const giveUpAtMs = clock() + timing.waitMs;
    for (;;) {
      const watch = held.watch(owner);
      try {
        const outcome = await attempt(owner, from);
        if (outcome !== undefined) return outcome;
        if (clock() >= giveUpAtMs) throw refreshUnavailable(owner, timing.pollMs);
        await Promise.race([watch.changed, sleep(timing.pollMs, undefined, { ref: false })]);
      } finally {
        watch.end();
      }
    }
  }

  /** @returns undefined while another process is at it. @throws AppError when there is nothing to wait for */
  async function attempt(owner: OAuthOwner, from: Held): Promise<Held | undefined> {
    await ports.onStep('intending', owner);
    const lease = { leaseId: ports.randomId(), generation: from.generation };
    const row = await store.takeLease(owner, lease, timing.leaseMs);
    if (row !== undefined) return useLease(owner, lease, held.decode(owner, row));
    const now = await held.reload(owner);
    if (now === undefined) throw credentialsFailed(owner, 'Its tokens are gone. Authenticate this instance again.');
    if (now.generation > from.generation) return now;
    if (now.refusedReason !== undefined) throw credentialsFailed(owner, now.refusedReason);
    if (now.retryAtMs > clock()) throw refreshUnavailable(owner, now.retryAtMs - clock());
    return undefined;
  }

  async function useLease(owner: OAuthOwner, lease: Lease, from: Held): Promise<Held> {
    await ports.onStep('intended', owner);
    const answer = await ask(owner, from);
    if (answer instanceof TokenError) return goWithout(owner, lease, from, answer);
    const answeredAtMs = clock();
    await ports.onStep('answered', owner);
    return storeGrant(owner, lease, from, { grant: answer, answeredAtMs });
  }

  async function ask(owner: OAuthOwner, { refreshToken }: Held): Promise<TokenGrant | TokenError> {
    const { connector, config } = owner;
    const request = { connector, config, signal: AbortSignal.timeout(timing.requestMs) };
    try {
      // RFC 6749, 4.4.3: no refresh token comes with client credentials, as they can be shown again.
      if (connector.auth.grant === 'clientCredentials') return await endpoint.requestClientCredentials(request);
      if (refreshToken === undefined) return new TokenError('refused', 'it gave no refresh token');
      return await endpoint.refresh({ ...request, refreshToken });
    } catch (error) {
      if (error instanceof TokenError) return error;
      log.error({ err: error, instanceId: owner.id }, 'a refresh of tokens failed unexpectedly');
      return new TokenError('unknown', 'The refresh failed unexpectedly.', { cause: error });
    }
  }

  async function storeGrant(
    owner: OAuthOwner,
    lease: Lease,
    from: Held,
    { grant, answeredAtMs }: { readonly grant: TokenGrant; readonly answeredAtMs: number },
  ): Promise<Held> {
    const secrets = { accessToken: grant.accessToken, refreshToken: grant.refreshToken ?? from.refreshToken };
    const life = planLifeOf(owner.connector, { ...secrets, expiresInSeconds: grant.expiresInSeconds });
    const tokens = held.encode(owner, secrets);
    const remaining = () => shortenLifetime(life, clock() - answeredAtMs);
    const stored = await keepTrying(owner, answeredAtMs, () => store.commit(owner, lease, { tokens, ...remaining() }));
    if (stored === undefined) return takeNewer(owner, from);
    const { generation, wasRefused } = stored;
    const fresh = held.holdNew(secrets, { generation, ...remaining() });
    held.keepNew(owner, fresh);
    await ports.onStep('committed', owner);
    await unlessItFails(() => held.announce(owner, generation));
    if (wasRefused) await unlessItFails(() => ports.onRecovered(owner));
    return fresh;
  }

  /** The only copy of a rotated refresh token is not given up because the database is away for a while. */
  async function keepTrying<Result>(owner: TokenKey, sinceMs: number, work: () => Promise<Result>): Promise<Result> {
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        if (clock() - sinceMs > timing.commitMs) throw error;
        log.error({ err: error, instanceId: owner.id, failures }, 'refreshed tokens cannot be stored; trying again');
      }
      await sleep(Math.min(MOST_COMMIT_BACKOFF_MS, planBackoffMs(ports.random, failures) / 4));
    }
  }

  /** The grant came too late, or was stored though the database could not say so. */
  async function takeNewer(owner: OAuthOwner, from: Held): Promise<Held> {
    const now = await held.reload(owner);
    if (now !== undefined && now.generation > from.generation) return now;
    throw credentialsFailed(owner, 'Its tokens are gone. Authenticate this instance again.');
  }

  async function goWithout(owner: OAuthOwner, lease: Lease, from: Held, error: TokenError): Promise<Held> {
    if (error.kind === 'refused') return refuse(owner, lease, from, error);
    const retryInMs = planBackoffMs(ports.random, from.failures + 1, error.retryAfterMs);
    const { message, kind } = error;
    log.warn({ instanceId: owner.id, kind, reason: message, retryInMs }, 'tokens could not be refreshed');
    await store.postpone(owner, lease, { retryInMs, interrupted: kind === 'unknown' });
    await unlessItFails(() => held.changed(owner));
    throw refreshUnavailable(owner, retryInMs, error);
  }

  async function refuse(owner: OAuthOwner, lease: Lease, from: Held, error: TokenError): Promise<Held> {
    const reason = describeRefusal(error, from.interrupted);
    const { accountId, id } = owner;
    const isNoted = await store.transaction(async (via) => {
      if (!(await store.refuse(via, owner, lease, reason))) return false;
      await ports.onRefused({ accountId, id, reason }, via);
      await held.changed(owner, via);
      return true;
    });
    if (isNoted) throw credentialsFailed(owner, reason);
    // Newer tokens came in between: what was refused is not theirs.
    await store.release(owner, lease);
    return takeNewer(owner, from);
  }

  /** An announcement: what is lost with it is found by polling, or by the next call. */
  async function unlessItFails(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, 'a change of tokens could not be announced');
    }
  }

  return {
    renew,
    /** Ends when no refresh is under way. */
    settled: async (): Promise<void> => {
      await Promise.allSettled(flights.values());
    },
  };
}

/** Whether another access token can be had without a user. */
export function isRenewable(
  { auth }: OAuthConnector,
  { refreshToken }: { refreshToken?: string | undefined },
): boolean {
  return refreshToken !== undefined || auth.grant === 'clientCredentials';
}

/** Of tokens that are new. */
export function planLifeOf(
  connector: OAuthConnector,
  tokens: { readonly refreshToken?: string | undefined; readonly expiresInSeconds?: number | undefined },
): Lifetime {
  const { expiresInSeconds = connector.auth.accessTokenSeconds } = tokens;
  return planLifetime(expiresInSeconds, { renewable: isRenewable(connector, tokens) });
}
