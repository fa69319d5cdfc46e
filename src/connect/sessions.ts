import type { Knex } from 'knex';
import type { Config } from '../connector/contract.ts';
import { changeInTurn } from '../db/change.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { assertAllStorable } from '../db/storable.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import { readRedirectUrl } from '../instances/oauth/addresses.ts';
import type { AuthorizationCaller } from '../instances/oauth/authorizations.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import { assertStorable } from '../instances/storable.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { type Brandings, toAudit } from './branding.ts';
import type { Branding } from './branding-store.ts';
import { assertFixable, assertOffered, isCodeFlow, listOffered, type OfferNeighbours } from './offer.ts';
import type { Origins } from './origins.ts';
import { CANCELLED, refuseEnded } from './session.ts';
import {
  createSessionStore,
  FILTERABLE_SESSION,
  type OpenSessions,
  type SessionKey,
  type SessionMaker,
  type SessionRow,
} from './session-store.ts';

/** Properties of a connect session that a server creates for one of its users. */
interface NewConnectSession {
  readonly elements?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly configuration?: Config | undefined;
  readonly redirectUrl?: string | undefined;
  readonly expiresIn?: number | undefined;
  readonly instanceId?: number | undefined;
  readonly proxyId?: number | undefined;
  readonly branding?: Branding | undefined;
}

export interface SessionNeighbours extends OfferNeighbours {
  readonly instances: Pick<Instances, 'get'>;
  readonly proxies: Pick<Proxies, 'get' | 'openClient'>;
  readonly origins: Pick<Origins, 'of'>;
  readonly brandings: Pick<Brandings, 'read'>;
  /** Returns the public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

const KEY_BYTES = 32;
/** Seconds, as the spec has it. */
const EXPIRES_IN = 3_600;
/** Maximum numbers of open sessions of a user and of an account. */
const MOST_OPEN: OpenSessions = { ofUser: 1_000, ofAccount: 2_000 };
const RETRY_SECONDS = 60;
export const PAGE_PATH = '/connect';

export function createSessions(
  platform: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random' | 'clock'>,
  neighbours: SessionNeighbours,
) {
  const { knex, shares, keyring, keys, random, clock } = platform;
  const { instances, proxies, origins, brandings, publicUrl } = neighbours;
  const store = createSessionStore(knex);
  const now = () => new Date(clock.now());

  async function elementsFor(caller: AuthorizationCaller, { elements = [], instanceId }: NewConnectSession) {
    await assertOffered(neighbours, caller.accountId, elements);
    if (instanceId === undefined) return [...new Set(elements)];
    const { connector } = await instances.get(caller.accountId, instanceId);
    if (elements.length > 0 && !elements.includes(connector.key)) throw anotherElement(instanceId, connector.key);
    return [connector.key];
  }

  async function assertReturn({ organizationId }: AuthorizationCaller, redirectUrl: string): Promise<void> {
    const { origin } = readRedirectUrl(redirectUrl, REDIRECT_POINTER);
    if ((await origins.of(organizationId)).includes(origin)) return;
    const message = `body.redirectUrl has the origin ${origin}, which the organization has not registered. Register it with PUT /organizations/me/connect-origins.`;
    throw new AppError('REQUEST_INVALID', message, { details: [{ path: REDIRECT_POINTER, message }] });
  }

  /** Asserts that the OAuth proxy can be used, so that no user authorizes a client that fails afterwards. */
  async function assertProxy(caller: AuthorizationCaller, proxyId: number, isOfUse: boolean): Promise<void> {
    proxies.openClient(await proxies.get(caller, proxyId));
    if (isOfUse) return;
    const message = 'body.proxyId has no effect: no offered element uses OAuth 2.0 with users. Leave it out.';
    throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/proxyId', message }] });
  }

  async function tokenOf({ accountId, status, instanceId }: SessionRow): Promise<string | undefined> {
    if (status !== 'completed' || instanceId === null) return undefined;
    return (await findInstance(accountId, instanceId))?.token;
  }

  async function findInstance(accountId: number, id: number): Promise<Instance | undefined> {
    try {
      return await instances.get(accountId, id);
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return undefined;
      throw error;
    }
  }

  async function get(via: Knex, key: SessionKey): Promise<SessionRow> {
    const session = await store.find(via, key);
    if (session === undefined) throw missing('connect session', key.id);
    return session;
  }

  return {
    /**
     * Creates a session.
     * @throws AppError REQUEST_INVALID; NOT_FOUND for an instance of another account, or for a proxy that the account cannot see;
     * RATE_LIMITED if the user or the account has too many open sessions
     */
    create: async (caller: AuthorizationCaller, input: NewConnectSession) => {
      const { configuration = {}, tags = [], redirectUrl, proxyId, instanceId, expiresIn = EXPIRES_IN } = input;
      assertStorable({ tags, configuration, ...(input.name !== undefined && { name: input.name }) });
      assertAllStorable({ redirectUrl });
      const elements = await elementsFor(caller, input);
      const offered = await listOffered(neighbours, caller.accountId, elements);
      assertFixable(offered, configuration);
      if (proxyId !== undefined) await assertProxy(caller, proxyId, offered.some(isCodeFlow));
      if (redirectUrl !== undefined) await assertReturn(caller, redirectUrl);
      const branding = await brandings.read(caller.organizationId, input.branding ?? {}, 'branding');
      const { accountId, userId } = caller;
      const id = await store.nextId();
      const key = random.bytes(KEY_BYTES).toString('base64url');
      const createdAt = now();
      const row = {
        accountId,
        id,
        userId,
        keyHash: keys.lookupHash(key),
        elements,
        name: input.name?.trim() ?? null,
        tags: [...new Set(tags.map((tag) => tag.trim()))],
        configuration: keyring.encrypt(JSON.stringify(configuration), contextOf({ accountId, id })),
        redirectUrl: redirectUrl ?? null,
        branding,
        proxyId: proxyId ?? null,
        reauthenticates: instanceId !== undefined,
        instanceId: instanceId ?? null,
        createdAt,
        expiresAt: new Date(createdAt.getTime() + expiresIn * 1000),
      };
      const insert = async (via: Knex) => {
        assertRoom(caller, await store.countOpen(via, caller, createdAt));
        return store.insert(via, row);
      };
      const session = await changeInTurn(knex, insert, noteOf);
      return { session, url: `${publicUrl()}${PAGE_PATH}/${key}` };
    },

    /**
     * Lists sessions from old to new.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: async (accountId: number, query: PageQuery) => {
      await store.expire(accountId, now());
      return listPage(FILTERABLE_SESSION, query, (selection) =>
        shares.list(accountId, (via) => createSessionStore(via).list(accountId, selection)),
      );
    },

    /**
     * Returns a session.
     * @throws AppError NOT_FOUND
     */
    get: async (accountId: number, id: number) => {
      await store.expire(accountId, now());
      const session = await get(knex, { accountId, id });
      const token = await tokenOf(session);
      return { session, token };
    },

    /**
     * Ends an open session.
     * @throws AppError NOT_FOUND; CONFLICT for a session that has ended
     */
    end: async (accountId: number, id: number) => {
      await store.expire(accountId, now());
      const end = async (via: Knex) => {
        const isEnded = await store.fail(via, { accountId, id }, CANCELLED, now());
        const session = await get(via, { accountId, id });
        if (!isEnded && session.status !== 'open') refuseEnded(session.status);
        return session;
      };
      return changeInTurn(knex, end, noteOf);
    },

    /**
     * Deletes the sessions that had ended before the given time.
     * @returns the number of deleted sessions
     */
    purge: store.purge,
    /** Deletes a batch of an account's sessions. */
    removeSome: store.removeSome,
  };
}

/** @throws AppError RATE_LIMITED */
function assertRoom({ accountId, userId }: SessionMaker, { ofAccount, ofUser }: OpenSessions): void {
  if (ofUser >= MOST_OPEN.ofUser) throw tooMany(`User ${userId}`, MOST_OPEN.ofUser);
  if (ofAccount >= MOST_OPEN.ofAccount) throw tooMany(`Account ${accountId}`, MOST_OPEN.ofAccount);
}

function tooMany(owner: string, most: number): AppError {
  const message = `${owner} has ${most} open connect sessions, the maximum. End some with DELETE /connect/sessions/{id}, or wait until some are completed or expire; a shorter expiresIn leaves fewer open.`;
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_SECONDS });
}

const REDIRECT_POINTER = '/body/redirectUrl';

/** Returns the values for the audit log, without fixed settings and without the key. */
function noteOf({ id, instanceId, ...session }: SessionRow) {
  const { status, elements, name, tags, redirectUrl, proxyId, branding } = session;
  const expiresAt = session.expiresAt.toISOString();
  const summary = {
    status,
    elements,
    name,
    tags,
    redirectUrl,
    proxyId,
    instanceId,
    branding: toAudit(branding),
    expiresAt,
  };
  return { targetId: String(id), changes: summary, ...(instanceId !== null && { instanceId }) };
}

export function contextOf({ accountId, id }: SessionKey): string {
  return encryptionContext('connect_session.configuration', accountId, id);
}

function anotherElement(instanceId: number, key: string): AppError {
  const message = `body.elements leaves out '${key}', the element of instance ${instanceId}.`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/elements', message }] });
}
