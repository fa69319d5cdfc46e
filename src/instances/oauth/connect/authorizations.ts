import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { appendQuery } from '../../../connector/client/query.ts';
import type { Config, Connector } from '../../../connector/contract.ts';
import { type BoundPlace, decryptBound, encryptBound, isRefused } from '../../../db/bound-values.ts';
import type { Keyring } from '../../../db/keyring.ts';
import { AppError } from '../../../errors.ts';
import { isStorable, UNSTORABLE } from '../../storable.ts';
import { authorizeUrlOf, simulatorOf } from '../endpoint/addresses.ts';
import { scopeOf } from '../endpoint/token-endpoint.ts';
import { isOAuthConnector, OAUTH_KEYS } from '../fields.ts';
import type { OAuthConnector } from '../grant.ts';
import type { OAuthProxy, Proxies } from '../proxies/proxies.ts';
import { readRedirectUrl } from '../proxies/redirect-url.ts';
import { type AuthorizationKey, type AuthorizationRow, createAuthorizationStore } from './authorization-store.ts';
import { invalidParameter, readUrlSettings, settingsOfUrl } from './url-settings.ts';

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

/** An authorization that a URL was handed out for. */
export interface Authorization {
  readonly accountId: number;
  readonly id: number;
  readonly verifier: string | undefined;
  /** Configuration keys that the URL was made with. */
  readonly settings: Config;
}

export interface Authorizations {
  /** The provider's page where a user authorizes. @throws AppError REQUEST_INVALID, NOT_FOUND for an unknown proxy, CONFLICT for one that cannot be used */
  readonly begin: (caller: AuthorizationCaller, connector: Connector, request: UrlRequest) => Promise<string>;
  /** The one with that state, or the newest; none after 15 minutes. */
  readonly find: (key: AuthorizationKey, state: string | undefined) => Promise<Authorization | undefined>;
  readonly consume: (via: Knex, authorization: Pick<Authorization, 'accountId' | 'id'>) => Promise<void>;
  /** Deletes what was begun before that time, and answers how many. */
  readonly purge: (before: Date) => Promise<number>;
}

export interface AuthorizationPorts {
  readonly knex: Knex;
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly proxies: Pick<Proxies, 'find' | 'findByUrl' | 'openClient' | 'allowTarget'>;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Buffer;
  readonly simulatorsUrl?: string | undefined;
}

export const AUTHORIZATION_MINUTES = 15;
/** 43 characters, as RFC 7636, 4.1 advises. */
const VERIFIER_BYTES = 32;
/** Stands for it without PKCE, so that what is beside it is bound all the same. */
const NO_VERIFIER = '';

export function createAuthorizations(ports: AuthorizationPorts): Authorizations {
  const { keyring } = ports;
  const store = createAuthorizationStore(ports.knex);

  return {
    begin: async (caller, connector, request) => {
      assertCodeFlow(connector);
      assertUrlStorable(request);
      const proxy = await findProxy(ports.proxies, caller, request);
      // Nobody is sent to authorize a client that cannot be used afterwards.
      if (proxy !== undefined) ports.proxies.openClient(proxy);
      const clientId = required(
        'apiKey',
        request.apiKey ?? proxy?.apiKey,
        'the client id registered with the provider',
      );
      const callbackUrl = readCallbackUrl(request, proxy);
      const settings = readUrlSettings(connector, request);
      const config = settingsOfUrl(connector, settings);
      const authorizeUrl = authorizeUrlOf(connector, config);
      const page = simulatorOf(ports.simulatorsUrl, connector, config)?.enter(authorizeUrl) ?? authorizeUrl;
      const verifier = connector.auth.pkce === false ? undefined : ports.random(VERIFIER_BYTES).toString('base64url');
      if (proxy !== undefined) {
        await ports.proxies.allowTarget(caller, proxy, required('state', request.state, STATE_OF_PROXY));
      }
      const { accountId, userId } = caller;
      const id = await store.nextId();
      const row = { accountId, id, userId, elementKey: connector.key, clientId, callbackUrl, settings };
      const sealedVerifier = encryptBound(keyring, verifier ?? NO_VERIFIER, placeOf(row));
      await store.insert({ ...row, state: request.state ?? null, verifier: sealedVerifier });
      return appendQuery(page.href, {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: callbackUrl,
        scope: scopeOf(connector, config),
        state: request.state,
        ...(verifier !== undefined && { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }),
        ...connector.auth.authorizeParameters,
      });
    },

    find: async (key, state) => {
      const texts = [key.clientId, key.callbackUrl, state ?? ''];
      // What no row can hold would be an error to PostgreSQL.
      const row = texts.every(isStorable)
        ? await store.findNewest(key, { state, minutes: AUTHORIZATION_MINUTES })
        : undefined;
      if (row === undefined) return undefined;
      const { accountId, id, settings } = row;
      const verifier = openVerifier(row);
      if (verifier === undefined) return undefined;
      return { accountId, id, settings, verifier: verifier === NO_VERIFIER ? undefined : verifier };
    },

    consume: (via, { accountId, id }) => store.remove(via, accountId, id),

    purge: store.purge,
  };

  /** Undefined for a row that was changed outside of the service: its settings say where a client secret goes. */
  function openVerifier(row: AuthorizationRow): string | undefined {
    if (row.verifier === null) return undefined;
    try {
      return decryptBound(keyring, row.verifier, placeOf(row)).plain;
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  }
}

function placeOf({
  accountId,
  id,
  elementKey,
  settings,
}: Pick<AuthorizationRow, 'accountId' | 'id' | 'elementKey' | 'settings'>): BoundPlace {
  return { column: 'oauth_authorization.verifier', key: [accountId, id], bound: [elementKey, settings] };
}

/** RFC 7636, 4.2. */
function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
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
  proxies: AuthorizationPorts['proxies'],
  { organizationId }: AuthorizationCaller,
  { oauthProxyName, isOauthProxy, callbackProxy, callbackUrl = '' }: UrlRequest,
): Promise<OAuthProxy | undefined> {
  if (oauthProxyName !== undefined) return proxies.find(organizationId, oauthProxyName);
  if (isOauthProxy !== true && callbackProxy !== true) return undefined;
  const proxy = await proxies.findByUrl(organizationId, callbackUrl);
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
