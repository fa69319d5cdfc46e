import { timingSafeEqual } from 'node:crypto';
import { toShowable } from '../connector/client/response.ts';
import type { Config, Connector } from '../connector/contract.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { AppError } from '../errors.ts';
import { CALLBACK_PATH } from '../instances/oauth/addresses.ts';
import type { Authorizations, UrlRequest } from '../instances/oauth/authorizations.ts';
import { OAUTH_KEYS } from '../instances/oauth/fields.ts';
import type { OAuthProxy } from '../instances/oauth/proxies/proxy.ts';
import type { Platform } from '../platform.ts';
import { NO_SECRETS } from '../redaction.ts';
import { type Completion, callerOf, type PageInput } from './completion.ts';
import { createDepartureStore, type DepartureRow } from './departure-store.ts';
import { isCodeFlow } from './offer.ts';
import { type PageSession, statusOf } from './session.ts';
import { PAGE_PATH } from './sessions.ts';

/*
 * To a provider and back. The page asks for a ticket, a URL of this service: opened in the browser it leaves a cookie there and leads on to the
 * provider. Whoever comes back without that cookie is somebody else, who was sent a provider's URL that he did not ask for: his consent must
 * not end in this session. In a frame the page itself could leave no cookie that comes back, which is why the ticket is opened, not fetched.
 */

/** Window in which the provider's page opens. It decides what happens when the browser returns. */
type Opener = 'popup' | 'page';

/** A browser that a provider sent back. */
export interface Arrival {
  readonly kind: 'arrived';
  readonly session: PageSession;
  readonly request: DepartureRequest;
}

export interface RefusedArrival {
  readonly kind: 'refused';
  readonly reason: 'otherBrowser' | 'again' | 'late' | 'ended';
  /** Session page that the browser left for the provider, and may return to. */
  readonly left?: { readonly key: string; readonly elementKey: string } | undefined;
}

/** Parameters that a provider sent with a browser, by name. */
type Parameters = Readonly<Record<string, string>>;

interface DepartureRequest extends PageInput {
  readonly url: string;
  readonly opener: Opener;
  /** The callback URL that the provider knows. */
  readonly callbackUrl: string;
  readonly isOfProxy: boolean;
}

export interface DepartureNeighbours {
  readonly completion: Completion;
  readonly findSession: (key: string) => Promise<PageSession | undefined>;
  readonly authorizations: Pick<Authorizations, 'begin'>;
  /** Returns the public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

const DEPARTURE_PATH = `${PAGE_PATH}/authorize`;
/** Time limit in milliseconds for an authorization, the same as in `instances/oauth`. */
export const AWAY_MS = 15 * 60_000;
/** The time between the response and the browser's request to leave. */
const TICKET_MS = 2 * 60_000;
const STATE_BYTES = 32;
const TICKET = 'connect.ticket';
const MARK = 'connect.mark';
/** Makes the URL in the state of a proxy one of its own; it is no parameter of a provider. */
const STATE_PARAMETER = 'connect';
const MAX_WORDS = 500;

interface Ticket extends Pick<DepartureRow, 'accountId' | 'id'> {
  readonly key: string;
}

export function createDepartures(
  platform: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random' | 'clock'>,
  { completion, findSession, authorizations, publicUrl }: DepartureNeighbours,
) {
  const { knex, shares, keyring, keys, random, clock } = platform;
  const store = createDepartureStore(knex);
  const isOlder = ({ createdAt }: DepartureRow, ms: number) => createdAt.getTime() + ms <= clock.now();
  const isOpen = (session: PageSession | undefined): session is PageSession =>
    session !== undefined && statusOf(session, clock.now()) === 'open';

  function open({ accountId, id, request }: DepartureRow): DepartureRequest {
    return JSON.parse(keyring.decrypt(request, contextOf(accountId, id)));
  }

  /** Reads the key of the session from the browser's cookie. Only the browser has the key. */
  function readMark({ browserHash }: DepartureRow, mark: string): string | undefined {
    if (browserHash === null || !timingSafeEqual(browserHash, keys.lookupHash(mark))) return undefined;
    return keys.open(mark, MARK);
  }

  function createState(proxy: OAuthProxy | undefined): string {
    const unguessable = random.bytes(STATE_BYTES).toString('base64url');
    // A proxy sends browsers on to the URL in the state.
    return proxy === undefined ? unguessable : `${publicUrl()}${CALLBACK_PATH}?${STATE_PARAMETER}=${unguessable}`;
  }

  return {
    /**
     * Begins a departure.
     * @returns the URL that the browser opens next, which works once
     * @throws AppError CONFLICT, REQUEST_INVALID
     */
    begin: async (session: PageSession, { opener, ...input }: PageInput & { readonly opener: Opener }) => {
      const { connector, fixed, proxy, earlier } = await completion.choose(session, input);
      const known: Config = { ...earlier?.config, ...input.configuration, ...fixed };
      const state = createState(proxy);
      const callbackUrl = proxy?.proxyUrl ?? publicUrl() + CALLBACK_PATH;
      const asked = { ...urlRequestOf(connector, known, proxy), callbackUrl, state };
      const url = await authorizations.begin(callerOf(session), connector, asked);
      await completion.forgetError(session);
      const { accountId, id: sessionId, key } = session;
      const id = await store.nextId();
      const request: DepartureRequest = { ...input, url, opener, callbackUrl, isOfProxy: proxy !== undefined };
      await store.insert({
        accountId,
        id,
        sessionId,
        stateHash: keys.lookupHash(state),
        request: keyring.encrypt(JSON.stringify(request), contextOf(accountId, id)),
        createdAt: new Date(clock.now()),
      });
      const ticket: Ticket = { accountId, id, key };
      return `${publicUrl()}${DEPARTURE_PATH}/${keys.seal(JSON.stringify(ticket), TICKET)}`;
    },

    /** Returns the provider's URL for a ticket, and the cookie of the browser; undefined for an invalid, used or expired ticket. */
    depart: async (sealed: string) => {
      const opened = keys.open(sealed, TICKET);
      if (opened === undefined) return undefined;
      const { key, ...reference }: Ticket = JSON.parse(opened);
      const row = await store.find(reference);
      if (row === undefined || isOlder(row, TICKET_MS) || !isOpen(await findSession(key))) return undefined;
      // The browser brings the key back, so that it is stored nowhere here.
      const value = keys.seal(key, MARK);
      if (!(await store.setBrowser(row, keys.lookupHash(value)))) return undefined;
      return { url: open(row).url, mark: { id: row.id, value } };
    },

    /**
     * Handles an arrival. `markOf` reads the cookie that identifies the browser.
     * @returns undefined for an unknown state
     */
    arrive: async (
      state: string,
      markOf: (id: number) => string | undefined,
    ): Promise<Arrival | RefusedArrival | undefined> => {
      const row = await shares.lookUp('stranger', () => store.findByState(keys.lookupHash(state)));
      if (row === undefined) return undefined;
      const key = readMark(row, markOf(row.id) ?? '');
      if (key === undefined) return { kind: 'refused', reason: 'otherBrowser' };
      const request = open(row);
      const left = request.opener === 'page' ? { key, elementKey: request.elementKey } : undefined;
      if (isOlder(row, AWAY_MS)) return { kind: 'refused', reason: 'late', left };
      if (!(await store.setReturned(row, new Date(clock.now())))) return { kind: 'refused', reason: 'again', left };
      const session = await findSession(key);
      return isOpen(session) ? { kind: 'arrived', session, request } : { kind: 'refused', reason: 'ended' };
    },

    /**
     * Completes the session with the parameters that the provider sent.
     * @throws AppError, which the session keeps as its error
     */
    finish: async (
      { session, request }: Arrival,
      { [STATE_PARAMETER]: _, ...providerData }: Parameters,
      signal: AbortSignal,
    ) => {
      const { connector, fixed } = await completion.choose(session, request);
      const configuration = codeSettings(connector, { ...request.configuration, ...fixed }, request);
      if ((providerData.code ?? '') !== '')
        return completion.complete(session, connector, { configuration, name: request.name, providerData, signal });
      return completion.noting(session, { connector, configuration }, async () => {
        throw notAuthorized(connector, providerData);
      });
    },

    /**
     * Deletes the departures that began before the given time.
     * @returns the number of deleted departures
     */
    purgeDepartures: store.purge,
  };
}

function contextOf(accountId: number, id: number): string {
  return encryptionContext('connect_authorization.request', accountId, id);
}

/** The settings that an authorization URL is made with. */
function urlRequestOf(connector: Connector, known: Config, proxy: OAuthProxy | undefined): UrlRequest {
  const { siteAddressKey = '', sandboxKey = '', merchantIdKey = '' } = isCodeFlow(connector) ? connector.auth : {};
  return {
    apiKey: proxy === undefined ? textOf(known[OAUTH_KEYS.clientId]) : undefined,
    // By its URL, not by its name: the account may have one of its own by the name of a shared one.
    isOauthProxy: proxy !== undefined,
    siteAddress: textOf(known[siteAddressKey]),
    sandbox: flagOf(known[sandboxKey]),
    merchantId: textOf(known[merchantIdKey]),
    scope: textOf(known[OAUTH_KEYS.scope]),
    simulator: flagOf(known.simulator),
  };
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === '' ? undefined : String(value);
}

function flagOf(value: unknown): boolean | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : text === 'true';
}

/**
 * Returns the settings that are sent with a code. The settings of its URL are stored with its state, in the form that the provider
 * received.
 */
function codeSettings(connector: Connector, known: Config, { callbackUrl, isOfProxy }: DepartureRequest): Config {
  const { siteAddressKey, sandboxKey, merchantIdKey } = isCodeFlow(connector) ? connector.auth : {};
  const ofUrl = [siteAddressKey, sandboxKey, merchantIdKey, OAUTH_KEYS.scope];
  return {
    ...Object.fromEntries(Object.entries(known).filter(([key]) => !ofUrl.includes(key))),
    // Those of the proxy, whatever the instance had before.
    ...(isOfProxy && { [OAUTH_KEYS.clientId]: '', [OAUTH_KEYS.clientSecret]: '' }),
    [OAUTH_KEYS.callbackUrl]: callbackUrl,
  };
}

function notAuthorized({ name }: Connector, { error = '', error_description = '' }: Parameters): AppError {
  const words = [error, error_description].filter((part) => part !== '').join(': ');
  const message = `${name} was not authorized, so no account was connected.`;
  return new AppError('REQUEST_INVALID', message, {
    ...(words !== '' && { providerMessage: toShowable(NO_SECRETS, words, MAX_WORDS) }),
  });
}
