import type { Config } from '../../../connector/contract.ts';
import { AppError, pointer } from '../../../errors.ts';
import { invalidConfiguration, resolveConfiguration } from '../../configuration.ts';
import { assertSecretsStay, type EarlierSettings } from '../../place.ts';
import { simulatorOf, tokenUrlOf } from '../endpoint/addresses.ts';
import { assertGivenValues, readValues, ValueFault } from '../endpoint/values.ts';
import { OAUTH_KEYS, TOKEN_KEYS } from '../fields.ts';
import type { OAuthConnector, TokenEndpoint, TokenGrant } from '../grant.ts';
import { assertProxyMayServe, type Proxies, type ProxyClient } from '../proxies/proxies.ts';
import { agreeOnSettings } from './agreed-settings.ts';
import type { AuthorizationCaller, Authorizations } from './authorizations.ts';
import { chooseSource, type GrantSource, type ProviderData } from './grant-source.ts';
import { type Authorization, obtainGrant, type Undertaking, verifyClient } from './obtain-grant.ts';

export interface ConnectRequest {
  readonly caller: AuthorizationCaller;
  readonly connector: OAuthConnector;
  /** The configuration as the caller gave it. */
  readonly given: Readonly<Record<string, unknown>>;
  /** What stays of an earlier configuration unless it is given again. */
  readonly base: Config;
  readonly providerData: ProviderData | undefined;
  /** Of an instance that is authenticated again. */
  readonly earlier?: EarlierSettings | undefined;
  readonly signal: AbortSignal;
}

/** Settings that go with a grant. The probe has yet to show that they work. */
export interface Connection {
  readonly config: Config;
  readonly grant: TokenGrant;
  /** What its code came from, which is used by it. */
  readonly authorization: Authorization | undefined;
}

export interface ConnectPorts {
  readonly authorizations: Pick<Authorizations, 'find'>;
  readonly endpoint: TokenEndpoint;
  readonly proxies: Pick<Proxies, 'findByUrl' | 'openClient'>;
  readonly simulatorsUrl?: string | undefined;
}

export interface Connect {
  /**
   * Turns a code, client credentials or a token that was obtained elsewhere into a grant.
   * @throws AppError REQUEST_INVALID; PROVIDER_CREDENTIALS_INVALID when the provider refuses; PROVIDER_* when it cannot answer
   */
  readonly connect: (request: ConnectRequest) => Promise<Connection>;
  /**
   * Shows a client and its secret to the provider, without using up any token.
   * @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider refuses them; PROVIDER_* when it cannot answer
   */
  readonly verifyClient: (undertaking: Undertaking) => Promise<void>;
}

export function createConnect(ports: ConnectPorts): Connect {
  return {
    connect: async (request) => {
      const { connector, signal } = request;
      const { proxy, given } = await fillFromProxy(ports.proxies, request);
      const source = chooseSource({ ...request, given });
      const authorization =
        source.kind === 'code' ? await findAuthorization(ports, request, { given, code: source.code }) : undefined;
      assertSimulatorStated(connector, authorization, { ...request.base, ...given });
      const settings = resolveConfiguration(connector, { ...authorization?.settings, ...given }, request.base);
      const config = { ...settings, ...readCallbackValues(ports, request, source, settings) };
      assertGivenValues(connector, config);
      const { origin } = tokenUrlOf(connector, config);
      assertSecretsStay(connector, proxy === undefined ? request.earlier : withProxySecret(request.earlier), config);
      if (proxy !== undefined)
        assertProxyMayServe(proxy, { ...request, origin, isBegunHere: authorization !== undefined });
      simulatorOf(ports.simulatorsUrl, connector, config);
      const grant = await obtainGrant(ports.endpoint, { connector, config, signal }, source, authorization);
      return { config: withoutTokens({ ...config, ...grant.values }), grant, authorization };
    },

    verifyClient: (undertaking) => verifyClient(ports.endpoint, undertaking),
  };
}

interface Filled {
  /** Whose secret is used, which the caller need not know. */
  readonly proxy?: ProxyClient;
  readonly given: Readonly<Record<string, unknown>>;
}

/** With the URL of a proxy as callback, its client is meant. */
async function fillFromProxy(
  proxies: ConnectPorts['proxies'],
  { caller, given, base }: ConnectRequest,
): Promise<Filled> {
  const { clientId, clientSecret, callbackUrl } = OAUTH_KEYS;
  const known = { ...base, ...given };
  const url = known[callbackUrl];
  const isComplete = isGiven(known[clientId]) && isGiven(known[clientSecret]);
  if (isComplete || typeof url !== 'string') return { given };
  const proxy = await proxies.findByUrl(caller.organizationId, url);
  if (proxy === undefined || (isGiven(known[clientId]) && known[clientId] !== proxy.apiKey)) return { given };
  // A caller who gave the secret alone needs no more than the client id.
  if (isGiven(known[clientSecret])) return { given: { ...given, [clientId]: proxy.apiKey } };
  const client = proxies.openClient(proxy);
  return { proxy: client, given: { ...given, [clientId]: client.apiKey, [clientSecret]: client.apiSecret } };
}

/** The proxy says itself where its secret may go. */
function withProxySecret(earlier: EarlierSettings | undefined): EarlierSettings | undefined {
  return earlier && { ...earlier, shown: new Set([...earlier.shown, OAUTH_KEYS.clientSecret]) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

async function findAuthorization(
  { authorizations }: ConnectPorts,
  { caller, connector, base, providerData }: ConnectRequest,
  { given, code }: Pick<ConnectRequest, 'given'> & { readonly code: string },
): Promise<Authorization | undefined> {
  const { accountId, userId } = caller;
  const known = { ...base, ...given };
  const callbackUrl = known[OAUTH_KEYS.callbackUrl];
  if (typeof callbackUrl !== 'string' || callbackUrl === '') {
    const key = OAUTH_KEYS.callbackUrl;
    const message = `'${key}' is required: the callbackUrl that the code came to.`;
    throw invalidConfiguration(connector, [{ path: pointer('body', 'configuration', key), message }]);
  }
  const clientId = String(known[OAUTH_KEYS.clientId] ?? '');
  const key = { accountId, userId, elementKey: connector.key, clientId, callbackUrl };
  const state = providerData?.state;
  const returned = { code, state };
  const open = await authorizations.find(connector, key, returned);
  if (open === undefined) return undefined;
  return { key, returned, verifier: open.verifier, settings: agreeOnSettings(connector, open, { base, given, state }) };
}

/**
 * Whether the simulator is meant is not taken over from the URL that the user authorized at: the URL is forgotten, and the same
 * body sent again would show its secrets to the provider.
 */
function assertSimulatorStated(
  connector: OAuthConnector,
  authorization: Authorization | undefined,
  stated: Readonly<Record<string, unknown>>,
): void {
  if (authorization === undefined) return;
  const isSimulated = authorization.settings.simulator === true;
  if (isSimulated === (String(stated.simulator) === 'true')) return;
  const message = isSimulated
    ? `'simulator' must be true: the code comes from the simulator of ${connector.name}, and without it an instance talks to ${connector.name} itself.`
    : `'simulator' must not be true: the code comes from ${connector.name} itself. For the simulator, authorize at the URL of simulator=true.`;
  throw invalidConfiguration(connector, [{ path: '/body/configuration/simulator', message }]);
}

function readCallbackValues(
  { simulatorsUrl }: ConnectPorts,
  { connector, providerData = {} }: ConnectRequest,
  source: GrantSource,
  config: Config,
): Readonly<Record<string, string>> {
  if (source.kind !== 'code') return {};
  try {
    return readValues({
      connector,
      config,
      from: 'callback',
      said: providerData,
      origin: tokenUrlOf(connector, config),
      simulator: simulatorOf(simulatorsUrl, connector, config),
      complete: true,
    });
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    const message = `providerData: ${error.message}. Pass on every parameter that came to the callback URL beside the code.`;
    throw new AppError('REQUEST_INVALID', message, {
      details: [{ path: pointer('body', 'providerData', error.member), message: error.message }],
      cause: error,
    });
  }
}

/** Tokens are kept with their state of refresh, where a refresh changes them: a copy in the configuration would go stale. */
function withoutTokens(config: Config): Config {
  return Object.freeze(Object.fromEntries(Object.entries(config).filter(([key]) => !TOKEN_KEYS.includes(key))));
}
