import { toShowable } from '../../connector/client/response.ts';
import type { Config } from '../../connector/contract.ts';
import { AppError, pointer } from '../../errors.ts';
import { createRedactor } from '../../redaction.ts';
import { invalidConfiguration, MASK, resolveConfiguration } from '../configuration.ts';
import { assertSecretsStay, type EarlierSettings } from '../credential-change.ts';
import { simulatorOf, tokenUrlOf } from './addresses.ts';
import type { AuthorizationKey } from './authorization-store.ts';
import type { AuthorizationCaller, Authorizations, ReturnedCode } from './authorizations.ts';
import { agreeOnSettings, type ProviderData, readCallbackValues } from './authorize.ts';
import { OAUTH_KEYS, type OAuthConnector, TOKEN_KEYS } from './fields.ts';
import { assertProxyMayServe, type Proxies, type ProxyClient } from './proxies/proxies.ts';
import {
  clientCredentialsRequest,
  exchangeRequest,
  type OAuthClient,
  type RequestToken,
  refreshRequest,
  type TokenGrant,
} from './token-endpoint.ts';
import { describeCodeFailure, describeTokenFailure, isGrantRefusal, TokenError } from './token-failure.ts';
import { assertGivenValues } from './values.ts';

interface ConnectRequest {
  readonly caller: AuthorizationCaller;
  readonly connector: OAuthConnector;
  /** The configuration as the caller sent it. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Earlier configuration. Its values stay unless new ones are given. */
  readonly base: Config;
  readonly providerData: ProviderData | undefined;
  /** State of the instance before it is authenticated again. */
  readonly earlier?: EarlierSettings | undefined;
  readonly signal: AbortSignal;
}

/** The settings of a grant. The probe has not verified them yet. */
interface Connection {
  readonly config: Config;
  readonly grant: TokenGrant;
  /** Authorization that the code belongs to, and that its exchange uses up; undefined without a code. */
  readonly authorization: Authorization | undefined;
}

/** The authorization of a code. */
interface Authorization {
  readonly key: AuthorizationKey;
  readonly returned: ReturnedCode;
  readonly verifier: string | undefined;
  /** Whether the user who sends the code requested its URL in the last 15 minutes. */
  readonly isOpen: boolean;
  /** The configuration values of its URL, as far as they are known. */
  readonly settings: Config;
}

export interface ConnectNeighbours {
  readonly authorizations: Authorizations;
  readonly proxies: Proxies;
  readonly requestToken: RequestToken;
  readonly simulatorsUrl: string | undefined;
}

/**
 * Turns a code, client credentials or an existing token into a grant.
 * @throws AppError REQUEST_INVALID; PROVIDER_CREDENTIALS_INVALID when the provider rejects it; PROVIDER_* when the provider does not
 * respond
 */
export async function connect(neighbours: ConnectNeighbours, request: ConnectRequest): Promise<Connection> {
  const { connector, base, earlier, providerData = {}, signal } = request;
  const { proxy, given } = await fillFromProxy(neighbours.proxies, request);
  const source = chooseSource({ ...request, given });
  const isCode = source.kind === 'code';
  const authorization = isCode ? await findAuthorization(neighbours, { ...request, given }, source.code) : undefined;
  const settings = resolveConfiguration(connector, { ...authorization?.settings, ...given }, base);
  const simulator = simulatorOf(neighbours.simulatorsUrl, connector, settings);
  const callbackValues = isCode ? readCallbackValues(connector, providerData, { config: settings, simulator }) : {};
  const config = { ...settings, ...callbackValues };
  assertGivenValues(connector, config);
  const { origin } = tokenUrlOf(connector, config);
  assertSecretsStay(connector, proxy === undefined ? earlier : withProxySecret(earlier), config);
  if (proxy !== undefined) {
    assertProxyMayServe(proxy, { ...request, origin, isOfAccount: isOfAccount(authorization) });
  }
  const obtain = () => obtainGrant(neighbours.requestToken, { connector, config }, source, { authorization, signal });
  const grant =
    authorization === undefined
      ? await obtain()
      : await neighbours.authorizations.exchangeOnce(connector, authorization.key, authorization.returned, obtain);
  return { config: withoutTokens({ ...config, ...grant.values }), grant, authorization };
}

interface Filled {
  /** The proxy whose secret is used. The caller need not know the secret. */
  readonly proxy?: ProxyClient;
  readonly given: ConnectRequest['given'];
}

/** Adds the client of a proxy, if the callback URL is that of the proxy. */
async function fillFromProxy(
  proxies: ConnectNeighbours['proxies'],
  { caller, given, base }: ConnectRequest,
): Promise<Filled> {
  const { clientId, clientSecret, callbackUrl } = OAUTH_KEYS;
  const known = { ...base, ...given };
  const url = known[callbackUrl];
  const isComplete = isGiven(known[clientId]) && isGiven(known[clientSecret]);
  if (isComplete || typeof url !== 'string') return { given };
  const proxy = await proxies.findByUrl(caller, url);
  if (proxy === undefined || (isGiven(known[clientId]) && known[clientId] !== proxy.apiKey)) return { given };
  // A caller who sends the secret needs only the client id.
  if (isGiven(known[clientSecret])) return { given: { ...given, [clientId]: proxy.apiKey } };
  const client = proxies.openClient(proxy);
  return { proxy: client, given: { ...given, [clientId]: client.apiKey, [clientSecret]: client.apiSecret } };
}

/** Marks the client secret as sent, because the proxy decides itself where its secret may be sent. */
function withProxySecret(earlier: EarlierSettings | undefined): EarlierSettings | undefined {
  return earlier && { ...earlier, shown: new Set([...earlier.shown, OAUTH_KEYS.clientSecret]) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** The source of a grant. */
type GrantSource =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'refreshToken'; readonly refreshToken: string }
  | { readonly kind: 'accessToken'; readonly accessToken: string }
  | { readonly kind: 'client' };

/** @throws AppError REQUEST_INVALID that describes how to get a code */
function chooseSource({ connector, given, providerData }: ConnectRequest): GrantSource {
  if (connector.auth.grant === 'clientCredentials') {
    assertNoProviderData(connector, providerData);
    return { kind: 'client' };
  }
  const { code } = providerData ?? {};
  if (code !== undefined && code !== '') return { kind: 'code', code };
  if (providerData === undefined) {
    const { refreshToken, accessToken } = tokensIn(given);
    if (refreshToken !== undefined) return { kind: 'refreshToken', refreshToken };
    if (accessToken !== undefined) return { kind: 'accessToken', accessToken };
  }
  throw codeMissing(connector, given, providerData);
}

function assertNoProviderData({ name }: OAuthConnector, providerData: ProviderData | undefined): void {
  if (providerData === undefined) return;
  const message = `${name} needs no authorization by a user, so there is no code. Leave out providerData.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/providerData', message }] });
}

/** Returns tokens that the caller obtained elsewhere. A mask is no token. */
export function tokensIn(given: ConnectRequest['given']) {
  return { refreshToken: tokenIn(given, OAUTH_KEYS.refreshToken), accessToken: tokenIn(given, OAUTH_KEYS.accessToken) };
}

function tokenIn(given: ConnectRequest['given'], key: string): string | undefined {
  const token = given[key];
  return typeof token === 'string' && token !== '' && token !== MASK ? token : undefined;
}

const MAX_WORDS = 500;

function codeMissing(
  { key, name }: OAuthConnector,
  given: ConnectRequest['given'],
  { error, error_description }: ProviderData = {},
): AppError {
  const path = '/body/providerData/code';
  const how = `Open the oauthUrl of GET /elements/${key}/oauth/url, authorize there, and send the code that comes back as providerData.code.`;
  const words = [error, error_description].filter((part) => part !== undefined && part !== '');
  const message =
    words.length === 0
      ? `${name} uses OAuth: providerData.code is missing. ${how}`
      : `${name} was not authorized, so there is no code. ${how}`;
  // Redacts secrets that the provider may quote.
  const redactor = createRedactor(
    [OAUTH_KEYS.clientSecret, ...TOKEN_KEYS].map((secret) => String(given[secret] ?? '')),
  );
  return new AppError('REQUEST_INVALID', message, {
    details: [{ path, message: 'is missing' }],
    ...(words.length > 0 && { providerMessage: toShowable(redactor, words.join(': '), MAX_WORDS) }),
  });
}

async function findAuthorization(
  { authorizations }: ConnectNeighbours,
  { caller, connector, base, given, providerData }: ConnectRequest,
  code: string,
): Promise<Authorization> {
  const { accountId, userId } = caller;
  const known = { ...base, ...given };
  const callbackUrl = known[OAUTH_KEYS.callbackUrl];
  if (typeof callbackUrl !== 'string' || callbackUrl === '') {
    const key = OAUTH_KEYS.callbackUrl;
    const message = `'${key}' is required: the callbackUrl that received the code.`;
    throw invalidConfiguration(connector, [{ path: pointer('body', 'configuration', key), message }]);
  }
  const clientId = String(known[OAUTH_KEYS.clientId] ?? '');
  const key = { accountId, userId, elementKey: connector.key, clientId, callbackUrl };
  const state = providerData?.state;
  const returned = { code, state };
  const { verifier, settings: open } = await authorizations.find(connector, key, returned);
  const settings = agreeOnSettings(connector, open, { base, given, state });
  return { key, returned, verifier, isOpen: open.length > 0, settings };
}

/** Returns whether only a user of the account can have begun the authorization of a code. PKCE binds a code to the account. */
function isOfAccount(authorization: Authorization | undefined): boolean {
  return authorization !== undefined && (authorization.isOpen || authorization.verifier !== undefined);
}

/** @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider rejects the request; PROVIDER_* when it does not respond */
async function obtainGrant(
  requestToken: RequestToken,
  client: OAuthClient,
  source: GrantSource,
  { authorization, signal }: Pick<ConnectRequest, 'signal'> & { readonly authorization: Authorization | undefined },
): Promise<TokenGrant> {
  const { connector, config } = client;
  try {
    switch (source.kind) {
      case 'code': {
        const callbackUrl = String(config[OAUTH_KEYS.callbackUrl]);
        const returned = { code: source.code, callbackUrl, verifier: authorization?.verifier };
        return await requestToken(exchangeRequest(client, returned), signal);
      }
      case 'refreshToken': {
        const { refreshToken } = source;
        const grant = await requestToken(refreshRequest(client, refreshToken), signal);
        assertNoValueIsMissing(connector, { ...config, ...grant.values });
        return { refreshToken, ...grant };
      }
      case 'accessToken':
        assertNoValueIsMissing(connector, config);
        return { accessToken: source.accessToken, values: {} };
      case 'client':
        return await requestToken(clientCredentialsRequest(client), signal);
    }
  } catch (error) {
    if (source.kind === 'code') throw describeCodeFailure(connector, error, authorization?.isOpen === true);
    throw describeTokenFailure(connector, error, SHOWN_KEYS[source.kind]);
  }
}

/** The configuration keys of the credentials that the provider receives. */
const SHOWN_KEYS: Readonly<Record<Exclude<GrantSource['kind'], 'code'>, string>> = {
  refreshToken: OAUTH_KEYS.refreshToken,
  accessToken: OAUTH_KEYS.accessToken,
  client: `${OAUTH_KEYS.clientId} and ${OAUTH_KEYS.clientSecret}`,
};

/** With an existing token, the caller must send the values that a code would have brought. */
function assertNoValueIsMissing(connector: OAuthConnector, config: Config): void {
  const missing = Object.entries(connector.auth.values ?? {}).filter(
    ([key, { required }]) => required !== false && config[key] === undefined,
  );
  if (missing.length === 0) return;
  throw invalidConfiguration(
    connector,
    missing.map(([key, { description }]) => ({
      path: pointer('body', 'configuration', key),
      message: `'${key}' is required with a token that was obtained elsewhere: ${description}`,
    })),
  );
}

/** Tokens are kept with their state of refresh, where a refresh changes them: a copy in the configuration would go stale. */
function withoutTokens(config: Config): Config {
  return Object.freeze(Object.fromEntries(Object.entries(config).filter(([key]) => !TOKEN_KEYS.includes(key))));
}

/** No client was issued this token, so a valid client only has the grant rejected. */
const NO_REFRESH_TOKEN = 'no-token-but-a-question-about-the-client';

/**
 * Sends a client and its secret to the provider without using up a token.
 * @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider rejects them; PROVIDER_* when it does not respond
 */
export async function verifyClient(
  requestToken: RequestToken,
  client: OAuthClient,
  signal: AbortSignal,
): Promise<void> {
  try {
    await requestToken(refreshRequest(client, NO_REFRESH_TOKEN), signal);
  } catch (error) {
    if (error instanceof TokenError && isGrantRefusal(error)) return;
    throw describeTokenFailure(client.connector, error, OAUTH_KEYS.clientSecret);
  }
}
