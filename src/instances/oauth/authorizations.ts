import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Config, Connector } from '../../connector/contract.ts';
import { canonicalJson } from '../../db/bound-values.ts';
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
  readonly merchantId?: string | undefined;
  readonly simulator?: boolean | undefined;
}

/** Properties of a returned code. */
export interface CodeOrigin {
  /** PKCE, for any code of the client in this account; undefined for an element without. */
  readonly verifier: string | undefined;
  /** Configuration keys that the URLs of open authorizations were made with: the newest first, equal ones once. */
  readonly settings: readonly Config[];
}

/** Parameters that a callback URL received. */
export interface ReturnedCode {
  readonly code: string;
  readonly state: string | undefined;
}

export type Authorizations = ReturnType<typeof createAuthorizations>;

export interface AuthorizationNeighbours {
  /** @throws AppError CONFLICT for an element that the account makes no instances of */
  readonly assertActive: (accountId: number, elementKey: string) => Promise<void>;
  readonly proxies: Pick<Proxies, 'find' | 'findByUrl' | 'openClient' | 'allowTarget'>;
  readonly simulatorsUrl: string | undefined;
}

const AUTHORIZATION_MINUTES = 15;
const STATE_BYTES = 32;
/** Nobody needs as many; it bounds what one exchange reads. */
const MOST_SETTINGS = 1000;

export function createAuthorizations(
  { knex, random, keys: { digest } }: Pick<Platform, 'knex' | 'random' | 'keys'>,
  { assertActive, proxies, simulatorsUrl }: AuthorizationNeighbours,
) {
  const store = createAuthorizationStore(knex);

  return {
    /** The provider's page where a user authorizes. @throws AppError REQUEST_INVALID, NOT_FOUND for an unknown proxy, CONFLICT for one that cannot be used, and for an inactive element */
    begin: async (caller: AuthorizationCaller, connector: Connector, request: UrlRequest) => {
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
      const state = request.state ?? createState(connector);
      const verifier = verifierOf(connector, key);
      const simulator = simulatorOf(simulatorsUrl, connector, config);
      const url = authorizationUrl({ connector, config, clientId, callbackUrl, state, verifier, simulator });
      if (proxy !== undefined)
        await proxies.allowTarget(caller, proxy, required('state', request.state, STATE_OF_PROXY));
      await store.insert({ ...key, state: state ?? null, settings, seal: sealOf(key, settings) });
      return url;
    },

    /**
     * Open authorizations are those of the same user in the last 15 minutes, with that state where one is given. Those that are used
     * count only where there are no others: several users may have opened one URL. The verifier needs none of them.
     * @throws AppError PROVIDER_CREDENTIALS_INVALID for a code that was exchanged already, whoever sent it
     */
    find: async (connector: OAuthConnector, key: AuthorizationKey, { code, state }: ReturnedCode) => {
      if (await store.hasCode(key.accountId, hashOf(key, code))) throw codeUsed(connector);
      const verifier = verifierOf(connector, key);
      if (!mayBeOpen(key, state)) return { verifier, settings: [] };
      const rows = await store.findSettings(key, { state, minutes: AUTHORIZATION_MINUTES, most: MOST_SETTINGS });
      const genuine = rows.filter(({ settings, seal }) => timingSafeEqual(seal, sealOf(key, settings)));
      const unused = genuine.filter((row) => row.unused);
      return { verifier, settings: (unused.length > 0 ? unused : genuine).map(({ settings }) => settings) };
    },

    /** The code was exchanged, for one of the open authorizations where there are any. */
    use: async (via: Knex, key: AuthorizationKey, { code, state }: ReturnedCode) => {
      await store.insertCode(via, key.accountId, hashOf(key, code));
      if (mayBeOpen(key, state)) await store.use(via, key, { state, minutes: AUTHORIZATION_MINUTES });
    },

    /** Deletes what was begun before that time. @returns how many */
    purge: store.purge,
    /** Deletes some of what an account has. */
    removeSome: store.removeSome,
  };

  function createState({ auth }: OAuthConnector): string | undefined {
    return auth.stateRequired === true ? random.bytes(STATE_BYTES).toString('base64url') : undefined;
  }

  /**
   * The same for all users of an account who ask for a code of this client, so that a code is exchanged whichever authorization it
   * comes from, and whoever sends it. 43 characters, as RFC 7636, 4.1 advises.
   */
  function verifierOf({ auth }: OAuthConnector, key: AuthorizationKey): string | undefined {
    if (auth.pkce === false) return undefined;
    const { accountId, elementKey, clientId, callbackUrl } = key;
    const client = JSON.stringify([accountId, elementKey, clientId, callbackUrl]);
    return digest(client, 'oauth_authorization.verifier').toString('base64url');
  }

  function hashOf({ elementKey, clientId, callbackUrl }: AuthorizationKey, code: string): Buffer {
    return digest(JSON.stringify([elementKey, clientId, callbackUrl, code]), 'oauth_code.code_hash');
  }

  function sealOf(
    { accountId, userId, elementKey, clientId, callbackUrl }: AuthorizationKey,
    settings: Config,
  ): Buffer {
    const sealed = canonicalJson([accountId, userId, elementKey, clientId, callbackUrl, settings]);
    return digest(sealed, 'oauth_authorization.seal');
  }
}

/** What no row can hold would be an error to PostgreSQL. */
function mayBeOpen({ clientId, callbackUrl }: AuthorizationKey, state = ''): boolean {
  return [clientId, callbackUrl, state].every(isStorable);
}

/** Seen twice, a code makes strict providers revoke what they granted for it (RFC 6749, 4.1.2): the instance that has it would end. */
function codeUsed({ key, name }: Connector): AppError {
  const message = `The code was already exchanged, and ${name} accepts it only once. Get a new one with GET /elements/${key}/oauth/url. Nothing was stored.`;
  return new AppError('PROVIDER_CREDENTIALS_INVALID', message);
}

function assertCodeFlow(connector: Connector): asserts connector is OAuthConnector {
  if (!isOAuthConnector(connector)) {
    throw new AppError(
      'REQUEST_INVALID',
      `${connector.name} does not use OAuth, so it has no authorization page. Create its instances with POST /instances and the configuration keys of GET /elements/${connector.key}.`,
    );
  }
  if (connector.auth.grant !== 'clientCredentials') return;
  throw new AppError(
    'REQUEST_INVALID',
    `${connector.name} needs no authorization by a user. Create its instances with POST /instances, ${OAUTH_KEYS.clientId} and ${OAUTH_KEYS.clientSecret}.`,
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
    `callbackUrl is not the URL of the OAuth proxy '${proxy.name}'. Leave it out, or send ${proxy.proxyUrl}. Send your own URL as state.`,
  );
}
