import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Config, Connector } from '../../connector/contract.ts';
import { canonicalJson } from '../../db/bound-values.ts';
import type { Removal } from '../../db/removal.ts';
import { isStorable, UNSTORABLE } from '../../db/storable.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { readRedirectUrl, simulatorOf } from './addresses.ts';
import { type AuthorizationKey, createAuthorizationStore } from './authorization-store.ts';
import { authorizationUrl, invalidParameter, readUrlSettings, settingsOfUrl } from './authorize.ts';
import { isOAuthConnector, OAUTH_KEYS, type OAuthConnector } from './fields.ts';
import type { Proxies } from './proxies/proxies.ts';
import type { OAuthProxy } from './proxies/proxy.ts';

/** Who asks for a URL, and later exchanges the code it leads to. */
export interface AuthorizationCaller {
  readonly organizationId: number;
  readonly accountId: number;
  readonly userId: number;
}

/** The query parameters of `GET /elements/{keyOrId}/oauth/url`. */
export interface UrlRequest {
  readonly apiKey?: string | undefined;
  readonly apiSecret?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly siteAddress?: string | undefined;
  readonly isOauthProxy?: boolean | undefined;
  readonly oauthProxyName?: string | undefined;
  readonly state?: string | undefined;
  readonly callbackProxy?: boolean | undefined;
  readonly scope?: string | undefined;
  readonly sandbox?: boolean | undefined;
  readonly simulator?: boolean | undefined;
}

/** Authorizations that URLs were handed out for, not long ago. */
export interface OpenAuthorizations {
  /** PKCE, for the code of any of them; undefined for an element without. */
  readonly verifier: string | undefined;
  /** Configuration keys that the URLs were made with: the newest first, equal ones once, and at least one. */
  readonly settings: readonly [Config, ...Config[]];
}

/** What came to a callback URL. */
export interface ReturnedCode {
  readonly code: string;
  readonly state: string | undefined;
}

export interface Authorizations {
  /** The provider's page where a user authorizes. @throws AppError REQUEST_INVALID, NOT_FOUND for an unknown proxy, CONFLICT for one that cannot be used, and for an inactive element */
  readonly begin: (caller: AuthorizationCaller, connector: Connector, request: UrlRequest) => Promise<string>;
  /**
   * Those of the last 15 minutes, with that state where one is given. Those that are used count only where there are no
   * others: several users may have opened one URL.
   * @throws AppError PROVIDER_CREDENTIALS_INVALID for a code that was exchanged already
   */
  readonly find: (
    connector: OAuthConnector,
    key: AuthorizationKey,
    returned: ReturnedCode,
  ) => Promise<OpenAuthorizations | undefined>;
  /** The code was exchanged for one of them, whichever it was. */
  readonly use: (via: Knex, key: AuthorizationKey, returned: ReturnedCode) => Promise<void>;
  /** Deletes what was begun before that time. @returns how many */
  readonly purge: (before: Date) => Promise<number>;
  /** Deletes some of what an account has. */
  readonly removeSome: (accountId: number) => Promise<Removal>;
}

export interface AuthorizationNeighbours {
  /** @throws AppError CONFLICT for an element that the account makes no instances of */
  readonly assertActive: (accountId: number, elementKey: string) => Promise<void>;
  readonly proxies: Pick<Proxies, 'find' | 'findByUrl' | 'openClient' | 'allowTarget'>;
  readonly simulatorsUrl: string | undefined;
}

export const AUTHORIZATION_MINUTES = 15;
/** Nobody needs as many; it bounds what one exchange reads. */
const MOST_SETTINGS = 1000;

export function createAuthorizations(
  { knex, keys: { digest } }: Pick<Platform, 'knex' | 'keys'>,
  { assertActive, proxies, simulatorsUrl }: AuthorizationNeighbours,
): Authorizations {
  const store = createAuthorizationStore(knex);

  return {
    begin: async (caller, connector, request) => {
      assertCodeFlow(connector);
      await assertActive(caller.accountId, connector.key);
      assertUrlStorable(request);
      const proxy = await findProxy(proxies, caller, request);
      // Nobody is sent to authorize a client that cannot be used afterwards.
      if (proxy !== undefined) proxies.openClient(proxy);
      const apiKey = request.apiKey ?? proxy?.apiKey;
      const clientId = required('apiKey', apiKey, 'the client id registered with the provider');
      const callbackUrl = readCallbackUrl(request, proxy);
      const settings = readUrlSettings(connector, request);
      const config = settingsOfUrl(connector, settings);
      const { accountId, userId } = caller;
      const key = { accountId, userId, elementKey: connector.key, clientId, callbackUrl };
      const { state } = request;
      const verifier = verifierOf(connector, key);
      const simulator = simulatorOf(simulatorsUrl, connector, config);
      const url = authorizationUrl({ connector, config, clientId, callbackUrl, state, verifier, simulator });
      if (proxy !== undefined) await proxies.allowTarget(caller, proxy, required('state', state, STATE_OF_PROXY));
      await store.insert({ ...key, state: state ?? null, settings, seal: sealOf(key, settings) });
      return url;
    },

    find: async (connector, key, { code, state }) => {
      // What no row can hold would be an error to PostgreSQL.
      if (![key.clientId, key.callbackUrl, state ?? ''].every(isStorable)) return undefined;
      const minutes = AUTHORIZATION_MINUTES;
      if (await store.isCodeUsed(key, { codeHash: hashOf(code), minutes })) throw codeUsed(connector);
      const rows = await store.findSettings(key, { state, minutes, most: MOST_SETTINGS });
      const genuine = rows.filter(({ settings, seal }) => timingSafeEqual(seal, sealOf(key, settings)));
      const unused = genuine.filter((row) => row.unused);
      const [newest, ...others] = (unused.length > 0 ? unused : genuine).map(({ settings }) => settings);
      if (newest === undefined) return undefined;
      return { verifier: verifierOf(connector, key), settings: [newest, ...others] };
    },

    use: (via, key, { code, state }) =>
      store.use(via, key, { state, codeHash: hashOf(code), minutes: AUTHORIZATION_MINUTES }),

    purge: store.purge,
    removeSome: store.removeSome,
  };

  /**
   * The same for all who ask for a code of this client, so that a code is exchanged whichever of several open authorizations
   * it comes from. 43 characters, as RFC 7636, 4.1 advises.
   */
  function verifierOf({ auth }: OAuthConnector, key: AuthorizationKey): string | undefined {
    if (auth.pkce === false) return undefined;
    const { accountId, elementKey, clientId, callbackUrl } = key;
    const client = JSON.stringify([accountId, elementKey, clientId, callbackUrl]);
    return digest(client, 'oauth_authorization.verifier').toString('base64url');
  }

  function hashOf(code: string): Buffer {
    return digest(code, 'oauth_authorization.code_hashes');
  }

  function sealOf(
    { accountId, userId, elementKey, clientId, callbackUrl }: AuthorizationKey,
    settings: Config,
  ): Buffer {
    const sealed = canonicalJson([accountId, userId, elementKey, clientId, callbackUrl, settings]);
    return digest(sealed, 'oauth_authorization.seal');
  }
}

/** Seen twice, a code makes strict providers revoke what they granted for it (RFC 6749, 4.1.2): the instance that has it would end. */
function codeUsed({ key, name }: Connector): AppError {
  const message = `The code was exchanged already, and ${name} takes it once. Get a new one with GET /elements/${key}/oauth/url. Nothing was stored.`;
  return new AppError('PROVIDER_CREDENTIALS_INVALID', message);
}

function assertCodeFlow(connector: Connector): asserts connector is OAuthConnector {
  if (!isOAuthConnector(connector)) {
    throw new AppError(
      'REQUEST_INVALID',
      `${connector.name} does not use OAuth, so there is no page to authorize at: make its instances with POST /instances and the configuration keys of GET /elements/${connector.key}.`,
    );
  }
  if (connector.auth.grant !== 'clientCredentials') return;
  throw new AppError(
    'REQUEST_INVALID',
    `${connector.name} needs no user to authorize: make its instances with POST /instances, ${OAUTH_KEYS.clientId} and ${OAUTH_KEYS.clientSecret}.`,
  );
}

const STATE_OF_PROXY = 'with an OAuth proxy, the URL that the proxy points to';

function required(parameter: keyof UrlRequest, value: string | undefined, what: string): string {
  if (value !== undefined && value !== '') return value;
  throw invalidParameter(parameter, `${parameter} is missing: ${what}.`);
}

function assertUrlStorable({ apiKey = '', state = '', scope = '' }: UrlRequest): void {
  for (const [parameter, text] of [['apiKey', apiKey] as const, ['state', state] as const, ['scope', scope] as const]) {
    if (!isStorable(text)) throw invalidParameter(parameter, `${parameter} ${UNSTORABLE}`);
  }
}

async function findProxy(
  proxies: AuthorizationNeighbours['proxies'],
  caller: AuthorizationCaller,
  { oauthProxyName, isOauthProxy, callbackProxy, callbackUrl = '' }: UrlRequest,
): Promise<OAuthProxy | undefined> {
  if (oauthProxyName !== undefined) return proxies.find(caller, oauthProxyName);
  if (isOauthProxy !== true && callbackProxy !== true) return undefined;
  const proxy = await proxies.findByUrl(caller, callbackUrl);
  if (proxy !== undefined) return proxy;
  throw invalidParameter(
    'oauthProxyName',
    'oauthProxyName is missing: the name of an OAuth proxy of POST /elements/oauthProxies.',
  );
}

function readCallbackUrl({ callbackUrl }: UrlRequest, proxy: OAuthProxy | undefined): string {
  const given = required(
    'callbackUrl',
    callbackUrl ?? proxy?.proxyUrl,
    'the redirect URL registered with the provider',
  );
  readRedirectUrl(given, '/query/callbackUrl');
  if (proxy === undefined || given === proxy.proxyUrl) return given;
  throw invalidParameter(
    'callbackUrl',
    `callbackUrl is not that of the OAuth proxy '${proxy.name}': leave it out, or give ${proxy.proxyUrl}. Your own URL goes into state.`,
  );
}
