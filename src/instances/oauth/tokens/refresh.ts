import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Config } from '../../../connector/contract.ts';
import type { Logger } from '../../../log.ts';
import { isSameSecret } from '../connect/credential-change.ts';
import { type OAuthConnector, type TokenEndpoint, TokenError, type TokenGrant } from '../grant.ts';
import type { Held, HeldTokens } from './held-tokens.ts';
import { type Lifetime, planBackoffMs, planLifetime, shortenLifetime } from './lifetime.ts';
import type { MeasuredRefresh } from './measure-refreshes.ts';
import type { RefreshStep, RefreshTiming } from './refresh-timing.ts';
import { credentialsFailed, describeRefusal, refreshUnavailable } from './refusal.ts';
import type { Lease, Refusal, TokenKey, TokenStore } from './token-store.ts';

/** An instance whose tokens are refreshed. */
export interface OAuthOwner extends TokenKey {
  readonly connector: OAuthConnector;
  readonly config: Config;
}

/** An instance as it is in the database now. */
export interface StoredOwner extends TokenKey {
  readonly config: Config;
  /** Grows with every change of `config`. */
  readonly settingsVersion: number;
}

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
  /** From the database. @throws AppError NOT_FOUND */
  readonly loadOwner: (accountId: number, id: number) => Promise<StoredOwner>;
  /** Once for every refusal, in the transaction that notes it. */
  readonly onRefused: (refusal: TokenKey & { readonly reason: string }, via: Knex) => Promise<void>;
  /** The provider told values with new tokens that are not those of the configuration; in a transaction that holds the settings. */
  readonly onValues: (told: TokenKey & Pick<TokenGrant, 'values'>, via: Knex) => Promise<void>;
  /** Tokens that were given up were granted after all. */
  readonly onRecovered: (key: TokenKey) => Promise<void>;
  readonly onStep: (step: RefreshStep, key: TokenKey) => Promise<void> | void;
  /** Called for every time the provider was asked. */
  readonly measure?: ((refresh: MeasuredRefresh) => void) | undefined;
  readonly timing: RefreshTiming;
}

const MOST_COMMIT_BACKOFF_MS = 5_000;

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

  async function useLease(owner: OAuthOwner, lease: Lease, from: Held): Promise<Held | undefined> {
    await ports.onStep('intended', owner);
    const askedAtMs = performance.now();
    const answer = await ask(owner, from);
    ports.measure?.({
      element: owner.connector.key,
      outcome: answer instanceof TokenError ? answer.kind : 'granted',
      durationMs: performance.now() - askedAtMs,
    });
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
    // The tokens are safe; what is not written now is told again at the next refresh.
    await unlessItFails(() => passOnValues(owner, grant, generation));
    if (wasRefused) await unlessItFails(() => ports.onRecovered(owner));
    return fresh;
  }

  /** Only those of the newest tokens: a re-authentication in between brought values of its own. */
  async function passOnValues(owner: OAuthOwner, { values }: TokenGrant, generation: number): Promise<void> {
    if (Object.entries(values).every(([key, value]) => owner.config[key] === value)) return;
    const { accountId, id } = owner;
    await store.transaction(async (via) => {
      await store.lockSettings(via, owner);
      const now = await store.find(owner, via);
      if (now?.generation === generation) await ports.onValues({ accountId, id, values }, via);
    });
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

  async function goWithout(owner: OAuthOwner, lease: Lease, from: Held, error: TokenError): Promise<Held | undefined> {
    if (error.kind === 'refused') return giveUp(owner, lease, from, describeRefusal(error, from.interrupted));
    const retryInMs = planBackoffMs(ports.random, from.failures + 1, error.retryAfterMs);
    const { message, kind } = error;
    log.warn({ instanceId: owner.id, kind, reason: message, retryInMs }, 'tokens could not be refreshed');
    await store.postpone(owner, lease, { retryInMs, interrupted: kind === 'unknown' });
    await unlessItFails(() => held.changed(owner));
    throw refreshUnavailable(owner, retryInMs, error);
  }

  async function giveUp(owner: OAuthOwner, lease: Lease, from: Held, refusal: Refusal): Promise<Held | undefined> {
    if (refusal.kind === 'client') return giveUpClient(owner, lease, from, refusal);
    if (await noteRefusal(owner, lease, refusal)) throw credentialsFailed(owner, refusal.reason);
    await store.release(owner, lease);
    // Newer tokens came in between: what was refused is not theirs.
    return takeNewer(owner, from);
  }

  /** A secret that was changed in between was not refused: it is asked with before anybody hears of the old one. */
  async function giveUpClient(
    owner: OAuthOwner,
    lease: Lease,
    from: Held,
    refusal: Refusal,
  ): Promise<Held | undefined> {
    const { config, settingsVersion } = await ports.loadOwner(owner.accountId, owner.id);
    const isStillThere = isSameSecret(owner.config, config);
    if (isStillThere && (await noteRefusal(owner, lease, refusal, settingsVersion))) {
      throw credentialsFailed(owner, refusal.reason);
    }
    await store.release(owner, lease);
    return attempt({ ...owner, config }, from);
  }

  /** @returns false when what was refused is not there any more */
  function noteRefusal(owner: OAuthOwner, lease: Lease, refusal: Refusal, settingsVersion?: number): Promise<boolean> {
    const { accountId, id } = owner;
    return store.transaction(async (via) => {
      const version = await store.lockSettings(via, owner);
      if (settingsVersion !== undefined && version !== settingsVersion) return false;
      if (!(await store.refuse(via, owner, lease, refusal))) return false;
      await ports.onRefused({ accountId, id, reason: refusal.reason }, via);
      await held.changed(owner, via);
      return true;
    });
  }

  /** What is lost with it is found by polling, or by the next call or refresh. */
  async function unlessItFails(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, 'a change of tokens could not be passed on');
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
