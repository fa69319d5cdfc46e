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

/** The user who requests an authorization URL, or exchanges its code. */
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

/** Parameters that a callback URL received. */
export interface ReturnedCode {
  readonly code: string;
  readonly state: string | undefined;
}

export type Authorizations = ReturnType<typeof createAuthorizations>;

/** The parts of other rooms that authorizations need. */
interface AuthorizationNeighbours {
  /** @throws AppError CONFLICT for an element that is not active in the account */
  readonly assertActive: (accountId: number, elementKey: string) => Promise<void>;
  readonly proxies: Proxies;
  readonly simulatorsUrl: string | undefined;
}

const AUTHORIZATION_MINUTES = 15;
const STATE_BYTES = 32;
/** Far more than a user needs. It limits what one exchange reads. */
const MOST_SETTINGS = 1000;

export function createAuthorizations(
  { knex, random, keys: { digest } }: Platform,
  { assertActive, proxies, simulatorsUrl }: AuthorizationNeighbours,
) {
  const store = createAuthorizationStore(knex);

  return {
    /**
     * Begins an authorization and returns the URL of the provider's page.
     * @throws AppError REQUEST_INVALID; NOT_FOUND for an unknown proxy; CONFLICT for a proxy that cannot be used, and for an inactive
     * element
     */
    begin: async (caller: AuthorizationCaller, connector: Connector, request: UrlRequest) => {
      assertCodeFlow(connector);
      await assertActive(caller.accountId, connector.key);
      assertUrlStorable(request);
      const proxy = await findProxy(proxies, caller, request);
      // A user must not authorize a client that cannot be used afterwards.
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
     * Finds the open authorizations of a code: those of the same user in the last 15 minutes, with the same state if there is one. Used
     * ones count only where there are no others, because several users may have opened one URL. The verifier does not depend on them.
     * @throws AppError PROVIDER_CREDENTIALS_INVALID for a code that was already exchanged, by any user of the account
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

    /**
     * Exchanges a code at the provider, unless it was or is being exchanged. If the exchange fails, it may be tried again.
     * @throws AppError PROVIDER_CREDENTIALS_INVALID, and what `exchange` throws
     */
    exchangeOnce: async <Grant>(
      connector: OAuthConnector,
      key: AuthorizationKey,
      { code }: ReturnedCode,
      exchange: () => Promise<Grant>,
    ): Promise<Grant> => {
      const codeHash = hashOf(key, code);
      // Before the exchange: of two requests that send the code at the same time, the provider gets one.
      if (!(await store.insertCode(key.accountId, codeHash))) throw codeUsed(connector);
      try {
        return await exchange();
      } catch (error) {
        await store.removeCode(key.accountId, codeHash);
        throw error;
      }
    },

    /** Marks one of the open authorizations of an exchanged code as used. */
    use: async (via: Knex, key: AuthorizationKey, { state }: Pick<ReturnedCode, 'state'>) => {
      if (mayBeOpen(key, state)) await store.use(via, key, { state, minutes: AUTHORIZATION_MINUTES });
    },

    /**
     * Deletes authorizations and codes from before a time.
     * @returns their number
     */
    purge: store.purge,
    /** Deletes some of the authorizations and codes of an account. */
    removeSome: store.removeSome,
  };

  function createState({ auth }: OAuthConnector): string | undefined {
    return auth.stateRequired === true ? random.bytes(STATE_BYTES).toString('base64url') : undefined;
  }

  /**
   * Returns the PKCE verifier: the same for all users of an account who authorize this client. So a code can be exchanged whichever
   * authorization it comes from, and whichever user sends it. It has 43 characters, as RFC 7636, 4.1 recommends.
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

/** PostgreSQL would report an error for a text that it cannot store. */
function mayBeOpen({ clientId, callbackUrl }: AuthorizationKey, state = ''): boolean {
  return [clientId, callbackUrl, state].every(isStorable);
}

/** When a code is sent twice, strict providers revoke its tokens (RFC 6749, 4.1.2), and the instance that has them would become invalid. */
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
