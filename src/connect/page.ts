import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { toShowable } from '../connector/client/response.ts';
import type { Config, Connector } from '../connector/contract.ts';
import { change } from '../db/change.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import { assertAsked, secretKeys } from '../instances/configuration.ts';
import type { Instance } from '../instances/instance.ts';
import type { AlongWith, Instances } from '../instances/instances.ts';
import { CALLBACK_PATH } from '../instances/oauth/addresses.ts';
import type { AuthorizationCaller, Authorizations, UrlRequest } from '../instances/oauth/authorizations.ts';
import { OAUTH_KEYS } from '../instances/oauth/fields.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { OAuthProxy } from '../instances/oauth/proxies/proxy.ts';
import type { Platform } from '../platform.ts';
import { createRedactor } from '../redaction.ts';
import { type AuthorizationRow, createAuthorizationStore } from './authorization-store.ts';
import { chooseOffered, isCodeFlow, listOffered, type Offer, type OfferNeighbours, offerOf } from './offer.ts';
import type { Origins } from './origins.ts';
import {
  assertOpen,
  CANCELLED,
  type PageSession,
  refuseEnded,
  returnUrlOf,
  statusOf,
  toSessionError,
} from './session.ts';
import { createSessionStore, type SessionRow } from './session-store.ts';
import { contextOf, PAGE_PATH } from './sessions.ts';

/** What somebody gave who connects. */
export interface PageInput {
  readonly elementKey: string;
  readonly configuration: Config;
  readonly name?: string | undefined;
}

/** Where the provider's page is opened, and so what happens when the browser comes back. */
export type Opener = 'popup' | 'page';

export interface Description {
  readonly session: PageSession;
  readonly offers: readonly Offer[];
  /** The origin of the page that a session returns to; undefined where it returns to none. */
  readonly returnsTo: string | undefined;
  /** Of a session that has ended. */
  readonly returnUrl: string | undefined;
  /** The origins whose pages may be told what has come of it. */
  readonly origins: readonly string[];
}

export interface Connected {
  readonly instanceId: number;
  readonly returnUrl: string | undefined;
}

/** A browser on its way to a provider. */
export interface Departure {
  readonly url: string;
  /** What the browser is known by when it comes back: `id` tells it from others that are under way. */
  readonly mark: { readonly id: number; readonly value: string };
}

/** A browser that a provider sent back. */
export interface Arrival {
  readonly kind: 'arrived';
  readonly session: PageSession;
  readonly request: AuthorizationRequest;
}

export type ArrivalRefusal = 'otherBrowser' | 'again' | 'late' | 'ended';

/** What a provider sent with it, by name. */
export type Parameters = Readonly<Record<string, string>>;

interface AuthorizationRequest extends PageInput {
  readonly url: string;
  readonly opener: Opener;
  /** The callback URL that the provider knows. */
  readonly callbackUrl: string;
  readonly isOfProxy: boolean;
}

/** What the page of a session can do. Whoever has its key acts for the user who made it, and no further than it allows. */
export interface ConnectPage {
  /** Undefined: there is no such session, or it may not be used any more. */
  readonly find: (key: string) => Promise<PageSession | undefined>;
  /** The origins whose pages may show the page in a frame. */
  readonly framesOf: (session: PageSession) => Promise<readonly string[]>;
  readonly describe: (session: PageSession) => Promise<Description>;
  /**
   * Verifies what was given with the provider, makes the instance or authenticates it again, and completes the session, all of it or nothing.
   * @throws AppError as the creation of instances; CONFLICT for a session that has ended
   */
  readonly connect: (session: PageSession, input: PageInput, signal: AbortSignal) => Promise<Connected>;
  /** Where the browser goes next to authorize at the provider, for once. @throws AppError as `connect` */
  readonly begin: (session: PageSession, input: PageInput & { readonly opener: Opener }) => Promise<string>;
  /** @returns undefined for what is no ticket, was used already, or is too old */
  readonly depart: (ticket: string) => Promise<Departure | undefined>;
  /** `markOf` reads what the browser is known by. @returns undefined for a state that is nobody's here */
  readonly arrive: (
    state: string,
    markOf: (id: number) => string | undefined,
  ) => Promise<Arrival | { readonly kind: 'refused'; readonly reason: ArrivalRefusal } | undefined>;
  /** Goes on with what the provider sent. @throws AppError, which the session has then as its error */
  readonly finish: (arrival: Arrival, parameters: Parameters, signal: AbortSignal) => Promise<Connected>;
  /** The user gives up. @returns where the browser goes. @throws AppError CONFLICT */
  readonly cancel: (session: PageSession) => Promise<string | undefined>;
  /** Deletes what is over at that time. @returns how many rows */
  readonly purge: (at: Date) => Promise<number>;
}

export interface PageNeighbours extends OfferNeighbours {
  readonly instances: Pick<Instances, 'get' | 'create' | 'update'>;
  readonly authorizations: Pick<Authorizations, 'begin'>;
  readonly proxies: Pick<Proxies, 'get' | 'findByUrl'>;
  readonly notifications: Pick<Notifications, 'prepare'>;
  readonly origins: Pick<Origins, 'of'>;
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
}

const KEY = /^[\w-]{43}$/;
const STATE_BYTES = 32;
/** Between the answer and the browser that goes there. */
const TICKET_MS = 2 * 60_000;
/** As long as an authorization is remembered (`instances/oauth`). */
export const AWAY_MS = 15 * 60_000;
const KEEP_MS = 30 * 24 * 60 * 60_000;
const TICKET = 'connect.ticket';
const MARK = 'connect.mark';
/** Makes the URL in the state of a proxy one of its own; it is no parameter of a provider. */
const STATE_PARAMETER = 'connect';
export const DEPARTURE_PATH = `${PAGE_PATH}/authorize`;
const MAX_WORDS = 500;

export function createConnectPage(
  platform: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random' | 'clock'>,
  neighbours: PageNeighbours,
): ConnectPage {
  const { knex, shares, keyring, keys, random, clock } = platform;
  const { instances, authorizations, proxies, notifications, origins, publicUrl } = neighbours;
  const store = createSessionStore(knex);
  const underWay = createAuthorizationStore(knex);
  const now = () => new Date(clock.now());

  async function find(key: string): Promise<PageSession | undefined> {
    if (!KEY.test(key)) return undefined;
    const row = await shares.lookUp('stranger', () => store.findByKeyHash(keys.lookupHash(key)));
    return row && { ...row, key };
  }

  function fixedOf(session: PageSession): Config {
    return JSON.parse(keyring.decrypt(session.configuration, contextOf(session)));
  }

  /** The instance that is authenticated again. */
  async function earlierOf({ accountId, reauthenticates, instanceId }: PageSession): Promise<Instance | undefined> {
    return reauthenticates && instanceId !== null ? instances.get(accountId, instanceId) : undefined;
  }

  /** That of the session, or the one that the instance was made through. */
  async function proxyOf(
    { organizationId, proxyId }: PageSession,
    earlier: Instance | undefined,
  ): Promise<OAuthProxy | undefined> {
    if (proxyId !== null) return proxies.get(organizationId, proxyId);
    const url = earlier?.config[OAUTH_KEYS.callbackUrl];
    return typeof url === 'string' ? proxies.findByUrl(organizationId, url) : undefined;
  }

  async function offersOf(session: PageSession) {
    const earlier = await earlierOf(session);
    const proxy = await proxyOf(session, earlier);
    const given = { fixed: fixedOf(session), earlier: earlier?.config ?? {}, hasProxy: proxy !== undefined };
    const connectors = await listOffered(neighbours, session.accountId, session.elements);
    return { connectors, proxy, earlier, offer: (connector: Connector) => offerOf(connector, given) };
  }

  /** @throws AppError CONFLICT, REQUEST_INVALID */
  async function choose(session: PageSession, { elementKey, configuration, name }: PageInput) {
    assertOpen(session, clock.now());
    if (name !== undefined && session.name !== null) throw nameFixed();
    const { connectors, proxy, earlier, offer } = await offersOf(session);
    const chosen = offer(chooseOffered(connectors, elementKey));
    assertAsked(chosen.connector, chosen.fields, configuration);
    return { proxy, earlier, ...chosen };
  }

  async function frames(session: PageSession): Promise<readonly string[]> {
    return origins.of(session.organizationId);
  }

  /** An origin may have been taken back since. */
  async function returnUrl(session: PageSession): Promise<string | undefined> {
    const url = returnUrlOf(session, clock.now());
    return url !== undefined && (await frames(session)).includes(new URL(url).origin) ? url : undefined;
  }

  /** The instance, its event and the end of the session are one transaction: of several that come together one gets through. */
  async function complete(session: PageSession, connector: Connector, given: Completion): Promise<Connected> {
    const caller = callerOf(session);
    const { configuration, providerData, signal } = given;
    const publish = await notifications.prepare(session.accountId);
    const along: AlongWith = async (via, { id: instanceId, name }) => {
      const isFirst = await store.complete(via, session, { instanceId, elementKey: connector.key, at: now() });
      if (!isFirst) refuseEnded(endedStatus(await store.find(via, session)));
      const { key: elementKey } = connector;
      const data = { sessionId: session.id, instanceId, elementKey, name, reauthenticated: session.reauthenticates };
      await publish(via, 'instance.connected', data);
    };
    const { reauthenticates, instanceId, tags } = session;
    const settings = { configuration, providerData };
    const name = session.name ?? given.name ?? connector.name;
    const instance =
      reauthenticates && instanceId !== null
        ? await instances.update(caller, instanceId, settings, signal, along)
        : await instances.create(caller, { element: connector.key, name, tags, ...settings }, signal, along);
    const completed = { ...session, status: 'completed' as const, instanceId: instance.id };
    return { instanceId: instance.id, returnUrl: await returnUrl(completed) };
  }

  /** What goes wrong stays with the session, which stays open: the server that made it sees it, and the user tries again. */
  async function noting<Result>(
    session: PageSession,
    connector: Connector,
    settings: Config,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const secrets = [...secretKeys(connector)].map((key) => String(settings[key] ?? ''));
      if (isAppError(error) && error.code !== 'INTERNAL')
        await store.noteError(session, redacted(toSessionError(error), secrets));
      throw error;
    }
  }

  function open({ accountId, id, request }: AuthorizationRow): AuthorizationRequest {
    return JSON.parse(keyring.decrypt(request, requestContext(accountId, id)));
  }

  return {
    find,

    framesOf: frames,

    describe: async (session) => {
      const isOpen = statusOf(session, clock.now()) === 'open';
      const { connectors, offer } = isOpen ? await offersOf(session) : { connectors: [], offer: undefined };
      return {
        session,
        offers: offer === undefined ? [] : connectors.map(offer),
        returnsTo: session.redirectUrl === null ? undefined : new URL(session.redirectUrl).origin,
        returnUrl: await returnUrl(session),
        origins: await frames(session),
      };
    },

    connect: async (session, input, signal) => {
      const { connector, isAuthorized, fixed } = await choose(session, input);
      if (isAuthorized) throw mustAuthorize(connector);
      const { name } = input;
      const configuration = { ...input.configuration, ...fixed };
      return noting(session, connector, configuration, () =>
        complete(session, connector, { configuration, name, providerData: undefined, signal }),
      );
    },

    begin: async (session, { opener, ...input }) => {
      const { connector, fixed, proxy, earlier } = await choose(session, input);
      const known: Config = { ...earlier?.config, ...input.configuration, ...fixed };
      const random256 = random.bytes(STATE_BYTES).toString('base64url');
      const ownCallback = publicUrl() + CALLBACK_PATH;
      const state = proxy === undefined ? random256 : `${ownCallback}?${STATE_PARAMETER}=${random256}`;
      const asked = { ...urlRequestOf(connector, known, proxy), callbackUrl: proxy?.proxyUrl ?? ownCallback, state };
      const url = await authorizations.begin(callerOf(session), connector, asked);
      const { accountId, id: sessionId, key } = session;
      const id = await underWay.nextId();
      // What goes wrong from now on is of this try.
      await store.noteError(session, null);
      const { callbackUrl } = asked;
      const request: AuthorizationRequest = { ...input, url, opener, callbackUrl, isOfProxy: proxy !== undefined };
      await underWay.insert({
        accountId,
        id,
        sessionId,
        stateHash: keys.lookupHash(state),
        request: keyring.encrypt(JSON.stringify(request), requestContext(accountId, id)),
        createdAt: now(),
      });
      const ticket = keys.seal(JSON.stringify({ accountId, id, key }), TICKET);
      return `${publicUrl()}${DEPARTURE_PATH}/${ticket}`;
    },

    depart: async (ticket) => {
      const opened = keys.open(ticket, TICKET);
      if (opened === undefined) return undefined;
      const { accountId, id, key }: { readonly accountId: number; readonly id: number; readonly key: string } =
        JSON.parse(opened);
      const row = await underWay.find({ accountId, id });
      const session = await find(key);
      if (row === undefined || session === undefined || isOlder(row, TICKET_MS)) return undefined;
      if (statusOf(session, clock.now()) !== 'open') return undefined;
      // The browser brings the key back, so that it is stored nowhere here.
      const value = keys.seal(key, MARK);
      if (!(await underWay.setBrowser(row, keys.lookupHash(value)))) return undefined;
      return { url: open(row).url, mark: { id, value } };
    },

    arrive: async (state, markOf) => {
      const row = await shares.lookUp('stranger', () => underWay.findByState(keys.lookupHash(state)));
      if (row === undefined) return undefined;
      const mark = markOf(row.id) ?? '';
      const key = isMark(row, mark) ? keys.open(mark, MARK) : undefined;
      // Whoever it is began nothing here: somebody else's consent must not end in this session.
      if (key === undefined) return { kind: 'refused', reason: 'otherBrowser' };
      if (isOlder(row, AWAY_MS)) return { kind: 'refused', reason: 'late' };
      if (!(await underWay.setReturned(row, now()))) return { kind: 'refused', reason: 'again' };
      const session = await find(key);
      if (session === undefined || statusOf(session, clock.now()) !== 'open')
        return { kind: 'refused', reason: 'ended' };
      return { kind: 'arrived', session, request: open(row) };
    },

    finish: async ({ session, request }, parameters, signal) => {
      const { connector, fixed } = (await offersOf(session)).offer(
        chooseOffered(await listOffered(neighbours, session.accountId, session.elements), request.elementKey),
      );
      const { [STATE_PARAMETER]: _, ...providerData } = parameters;
      const configuration = codeSettings(connector, { ...request.configuration, ...fixed }, request);
      return noting(session, connector, configuration, () => {
        if ((providerData.code ?? '') === '') throw notAuthorized(connector, providerData);
        return complete(session, connector, { configuration, name: request.name, providerData, signal });
      });
    },

    cancel: async (session) => {
      assertOpen(session, clock.now());
      const at = now();
      const cancel = async (via: Knex) => {
        if (!(await store.fail(via, session, CANCELLED, at))) refuseEnded(endedStatus(await store.find(via, session)));
      };
      await change(knex, cancel, () => ({ targetId: String(session.id), changes: { status: 'failed' } }));
      return returnUrl({ ...session, status: 'failed', endedAt: at });
    },

    purge: async (at) =>
      (await underWay.purge(new Date(at.getTime() - AWAY_MS))) + (await store.purge(new Date(at.getTime() - KEEP_MS))),
  };

  function isMark({ browserHash }: AuthorizationRow, mark: string): boolean {
    return browserHash !== null && timingSafeEqual(browserHash, keys.lookupHash(mark));
  }

  function isOlder({ createdAt }: AuthorizationRow, ms: number): boolean {
    return createdAt.getTime() + ms <= clock.now();
  }
}

/** Where nobody has ended it, its time did. */
function endedStatus(session: Pick<SessionRow, 'status'> | undefined) {
  return session === undefined || session.status === 'open' ? 'expired' : session.status;
}

interface Completion {
  readonly configuration: Config;
  readonly providerData: Parameters | undefined;
  readonly name: string | undefined;
  readonly signal: AbortSignal;
}

function callerOf({ organizationId, accountId, userId }: PageSession): AuthorizationCaller {
  return { organizationId, accountId, userId };
}

function requestContext(accountId: number, id: number): string {
  return encryptionContext('connect_authorization.request', accountId, id);
}

function redacted(error: ReturnType<typeof toSessionError>, secrets: readonly string[]) {
  const { redact } = createRedactor(secrets);
  const { code, message, providerMessage } = error;
  return {
    code,
    message: redact(message),
    ...(providerMessage !== undefined && { providerMessage: redact(providerMessage) }),
  };
}

/** The settings that an authorization URL is made with. */
function urlRequestOf(connector: Connector, known: Config, proxy: OAuthProxy | undefined): UrlRequest {
  const { siteAddressKey = '', sandboxKey = '' } = isCodeFlow(connector) ? connector.auth : {};
  return {
    apiKey: proxy === undefined ? textOf(known[OAUTH_KEYS.clientId]) : undefined,
    oauthProxyName: proxy?.name,
    siteAddress: textOf(known[siteAddressKey]),
    sandbox: flagOf(known[sandboxKey]),
    scope: textOf(known[OAUTH_KEYS.scope]),
    simulator: flagOf(known.simulator),
  };
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === '' ? undefined : String(value);
}

function flagOf(value: unknown): boolean | undefined {
  return value === undefined || value === '' ? undefined : String(value) === 'true';
}

/** What is sent with a code: what its URL was made with is remembered with its state, in the form that the provider was shown. */
function codeSettings(connector: Connector, known: Config, { callbackUrl, isOfProxy }: AuthorizationRequest): Config {
  const { siteAddressKey, sandboxKey } = isCodeFlow(connector) ? connector.auth : {};
  const ofUrl = [siteAddressKey, sandboxKey, OAUTH_KEYS.scope];
  const others = Object.entries(known).filter(([key]) => !ofUrl.includes(key));
  return {
    ...Object.fromEntries(others),
    // Those of the proxy, whatever the instance had before.
    ...(isOfProxy && { [OAUTH_KEYS.clientId]: '', [OAUTH_KEYS.clientSecret]: '' }),
    [OAUTH_KEYS.callbackUrl]: callbackUrl,
  };
}

function nameFixed(): AppError {
  const message = 'body.name is fixed by the session: leave it out.';
  return new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/name', message }] });
}

function mustAuthorize({ name }: Connector): AppError {
  const message = `An account of ${name} is connected by authorizing there: POST /connect/session/authorization answers where.`;
  return new AppError('REQUEST_INVALID', message);
}

/** The words are the provider's, and may repeat what came with them. */
function notAuthorized({ name }: Connector, { error = '', error_description = '', code: _ }: Parameters): AppError {
  const words = [error, error_description].filter((part) => part !== '').join(': ');
  const message = `${name} was not authorized, so no account was connected. Try again, or choose another account there.`;
  return new AppError('REQUEST_INVALID', message, {
    ...(words !== '' && { providerMessage: toShowable(createRedactor([]), words, MAX_WORDS) }),
  });
}
