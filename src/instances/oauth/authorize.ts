import { createHash } from 'node:crypto';
import type { SimulatorRoute } from '../../connector/client/url.ts';
import { appendQuery } from '../../connector/client/url.ts';
import type { Config, ConfigField } from '../../connector/contract.ts';
import { AppError, pointer } from '../../errors.ts';
import { invalidConfiguration } from '../configuration.ts';
import { authorizeUrlOf, isOfProvider, parseRedirectUrl, tokenUrlOf } from './addresses.ts';
import { OAUTH_KEYS, type OAuthConnector, scopeOf } from './fields.ts';
import { readValues, ValueFault } from './values.ts';

/**
 * The two ends of an authorization. `authorizationUrl` sends a user to the provider's page, with the settings of `readUrlSettings`.
 * `agreeOnSettings` and `readCallbackValues` judge the parameters of the callback URL.
 */

/** The parts of an authorization URL. */
export interface AuthorizationRequest {
  readonly connector: OAuthConnector;
  /** The configuration from which the URL is built, including defaults. */
  readonly config: Config;
  readonly clientId: string;
  readonly callbackUrl: string;
  readonly state: string | undefined;
  /** The PKCE verifier (RFC 7636, 4.1). Undefined for an element without PKCE. */
  readonly verifier: string | undefined;
  readonly simulator: SimulatorRoute | undefined;
}

/**
 * Returns the authorization URL (RFC 6749, 4.1.1).
 * @throws AppError REQUEST_INVALID when the settings result in no address at one of the connector's hosts
 */
export function authorizationUrl(request: AuthorizationRequest): string {
  const { connector, config, clientId, callbackUrl, state, verifier, simulator } = request;
  const url = authorizeUrlOf(connector, config);
  return appendQuery((simulator?.enter(url) ?? url).href, {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callbackUrl,
    scope: scopeOf(connector, config),
    state,
    ...(verifier !== undefined && {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
    ...connector.auth.authorizeParameters,
  });
}

interface UrlParameters {
  readonly siteAddress?: string | undefined;
  readonly sandbox?: boolean | undefined;
  readonly merchantId?: string | undefined;
  readonly simulator?: boolean | undefined;
  readonly scope?: string | undefined;
}

/**
 * Returns the configuration values that the parameters of an authorization URL stand for. An instance that is created with its code has
 * them.
 * @throws AppError REQUEST_INVALID for a parameter that the element does not have, and for a host that is not the provider's
 */
export function readUrlSettings(connector: OAuthConnector, given: UrlParameters): Config {
  const { siteAddressKey, sandboxKey } = connector.auth;
  const { siteAddress, sandbox, merchantId, simulator, scope } = given;
  const settings: Config = {
    ...(simulator !== undefined && { simulator }),
    ...(sandbox !== undefined && { [keyOf(connector, sandboxKey, 'sandbox')]: sandbox }),
    ...(merchantId !== undefined && readMerchant(connector, merchantId)),
    ...(scope !== undefined && { [OAUTH_KEYS.scope]: scope }),
  };
  if (siteAddress === undefined) {
    assertSiteAddressIsKnown(connector);
    return settings;
  }
  return { ...settings, [keyOf(connector, siteAddressKey, 'siteAddress')]: readSite(connector, settings, siteAddress) };
}

/** Returns the settings of an authorization URL, with the defaults of the connector's own keys. */
export function settingsOfUrl({ configuration }: OAuthConnector, settings: Config): Config {
  const defaults = configuration
    .filter((field) => field.default !== undefined)
    .map((field) => [field.key, field.default]);
  return { ...Object.fromEntries(defaults), ...settings };
}

function keyOf({ name }: OAuthConnector, key: string | undefined, parameter: string): string {
  if (key !== undefined) return key;
  throw invalidParameter(parameter, `${name} has no ${parameter}: leave it out.`);
}

function readMerchant(connector: OAuthConnector, text: string): Config {
  const key = keyOf(connector, connector.auth.merchantIdKey, 'merchantId');
  const field = connector.configuration.find((each) => each.key === key);
  if (field !== undefined && hasPattern(field, text)) return { [key]: text };
  throw invalidParameter(
    'merchantId',
    `merchantId is not valid for ${connector.name}. It looks like ${field?.example}.`,
  );
}

function assertSiteAddressIsKnown({ name, auth, configuration }: OAuthConnector): void {
  const field = configuration.find(({ key }) => key === auth.siteAddressKey);
  if (field?.required !== true) return;
  throw invalidParameter('siteAddress', `siteAddress is missing: ${name} has a host of its own for every customer.`);
}

function readSite(connector: OAuthConnector, settings: Config, text: string): string {
  const { name, auth, configuration } = connector;
  const field = configuration.find(({ key }) => key === auth.siteAddressKey);
  const url = parseRedirectUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === undefined || url.search !== '') {
    throw invalidParameter(
      'siteAddress',
      'siteAddress must be the address of your account, such as https://acme.example.com.',
    );
  }
  const site = field?.type === 'url' ? url.href.replace(/\/+$/, '') : url.host;
  if (isOfProvider(connector, settingsOfUrl(connector, { ...settings, [field?.key ?? '']: site }), url)) return site;
  // Where the setting is a name from which the connector makes the host, the name is enough.
  if (field !== undefined && hasPattern(field, text)) return text;
  throw invalidParameter('siteAddress', `siteAddress results in the host ${url.host}, which is not a host of ${name}.`);
}

function hasPattern({ type, pattern }: ConfigField, text: string): boolean {
  return type === 'string' && pattern?.exec(text)?.[0] === text;
}

export function invalidParameter(parameter: string, message: string): AppError {
  return new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', parameter), message }] });
}

/** A code, with the settings that a caller sends. */
interface CodeGiven {
  /** Earlier settings, which authorization and caller may replace. */
  readonly base: Config;
  /** The configuration as the caller sent it. It takes precedence over the settings of authorizations. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly state: string | undefined;
}

/**
 * Returns the settings that the URL of a code was made with; nothing if no authorization is open. A code does not
 * show which of several open authorizations it belongs to, so they must agree: a code that is sent to the wrong
 * address would be spent. Only the scope is exempt; differing scopes are left out.
 * @throws AppError REQUEST_INVALID that names the keys in which they differ
 */
export function agreeOnSettings(
  connector: OAuthConnector,
  [newest, ...others]: readonly Config[],
  { base, given, state }: CodeGiven,
): Config {
  if (newest === undefined) return {};
  const [first, ...rest] = [newest, ...others].map((settings) => ({
    ...settingsOfUrl(connector, { ...base, ...settings }),
    ...given,
  }));
  const keys = [...new Set([newest, ...others].flatMap(Object.keys))];
  const differing = keys.filter((key) => rest.some((settings) => !isSame(settings, first, key)));
  const leading = differing.filter((key) => key !== OAUTH_KEYS.scope);
  if (leading.length > 0) throw describeDifference(connector, leading, state);
  const settings: Config = Object.fromEntries(Object.entries(newest).filter(([key]) => !differing.includes(key)));
  assertSimulatorStated(connector, settings, { ...base, ...given });
  return settings;
}

/** A setting without a value equals false. */
function isSame(one: Readonly<Record<string, unknown>>, other: typeof one | undefined, key: string): boolean {
  return (one[key] ?? false) === (other?.[key] ?? false);
}

function describeDifference({ name }: OAuthConnector, keys: readonly string[], state: string | undefined): AppError {
  const [of, way] =
    state === undefined
      ? ['client and callback URL', 'Send the state that came with the code as providerData.state']
      : ['client, callback URL and state', 'Begin each with a state of its own'];
  const differing = keys.join(', ');
  const message = `Several authorizations of ${name} are open with this ${of}, and they differ in ${differing}. ${way}, or send ${differing} in the configuration. The code was not used.`;
  return new AppError('REQUEST_INVALID', message, {
    details: [
      { path: '/body/providerData/state', message: state === undefined ? 'is missing' : 'fits several authorizations' },
      ...keys.map((key) => ({
        path: pointer('body', 'configuration', key),
        message: 'differs between the open authorizations',
      })),
    ],
  });
}

/**
 * Asserts that the caller states whether the simulator is used. The state is not taken from the authorization URL: the URL expires, and the
 * same body sent again would send its secrets to the provider.
 */
function assertSimulatorStated(
  connector: OAuthConnector,
  settings: Config,
  stated: Readonly<Record<string, unknown>>,
): void {
  const isSimulated = settings.simulator === true;
  if (isSimulated === (String(stated.simulator) === 'true')) return;
  const message = isSimulated
    ? `'simulator' must be true: the code comes from the simulator of ${connector.name}, and without it an instance talks to ${connector.name} itself.`
    : `'simulator' must not be true: the code comes from ${connector.name} itself. For the simulator, authorize at the oauthUrl of a request with simulator=true.`;
  throw invalidConfiguration(connector, [{ path: '/body/configuration/simulator', message }]);
}

/** Parameters of a callback URL: `code`, `state` and any others of the provider, or `error`. */
export type ProviderData = Readonly<Record<string, string>>;

/**
 * Returns the values that the provider sent beside the code, by configuration key.
 * @throws AppError REQUEST_INVALID that names what is missing or not as declared
 */
export function readCallbackValues(
  connector: OAuthConnector,
  said: ProviderData,
  { config, simulator }: Pick<AuthorizationRequest, 'config' | 'simulator'>,
): Readonly<Record<string, string>> {
  try {
    const origin = tokenUrlOf(connector, config);
    return readValues({ connector, config, from: 'callback', said, origin, simulator, complete: true });
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    const message = `providerData: ${error.message}. Send every parameter that the callback URL received beside the code.`;
    throw new AppError('REQUEST_INVALID', message, {
      details: [{ path: pointer('body', 'providerData', error.member), message: error.message }],
      cause: error,
    });
  }
}
