import type { Config, Connector } from '../connector/contract.ts';
import { AppError, pointer } from '../errors.ts';
import { invalidConfiguration, MASK, providerSecrets } from './configuration.ts';
import { tokenUrlOf } from './oauth/addresses.ts';
import { OAUTH_KEYS, type OAuthConnector } from './oauth/fields.ts';

/**
 * The effect of changed settings on the stored secrets and tokens: which of them may stay, and which the caller or the provider must
 * confirm.
 */

/** The settings of an instance before a caller changes them. */
export interface EarlierSettings {
  readonly config: Config;
  /** The keys that the caller sent, except masks. */
  readonly shown: ReadonlySet<string>;
}

/** Returns the keys with a value that is not a mask. */
export function readShown(given: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const isShown = (value: unknown) => value !== undefined && value !== null && value !== '' && value !== MASK;
  return new Set(Object.keys(given).filter((key) => isShown(given[key])));
}

/**
 * Returns the recipients of the instance's requests, and so of its secrets: origins, hosts, and whether it is the simulator. Hosts that
 * don't depend on the settings are always those of the provider.
 */
function addressesOf(connector: Connector, config: Config): readonly unknown[] {
  const { auth, hosts } = connector;
  return [
    config.simulator === true,
    originOf(connector.baseUrl(config)),
    typeof hosts === 'function' ? hosts(config) : [],
    auth.type === 'oauth2' ? [auth.tokenUrl, auth.refreshUrl].map((urlOf) => urlOf && originOf(urlOf(config))) : [],
  ];
}

/** An invalid URL is rejected elsewhere. Here it only must differ from any URL. */
function originOf(address: string): string {
  return URL.parse(address)?.origin ?? address;
}

/**
 * Asserts that stored secrets are sent only to the address that they were given for. For another address they must be sent again. Otherwise
 * everybody who may change settings could read masked secrets at a server of their own.
 * @throws AppError REQUEST_INVALID that names every secret to send
 */
export function assertSecretsStay(connector: Connector, earlier: EarlierSettings | undefined, config: Config): void {
  const faults = earlier === undefined ? [] : findStrayingSecrets(connector, earlier, config);
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

/** Returns the faults of secrets that would be sent to another address than before and were not sent again. */
function findStrayingSecrets(connector: Connector, { config: before, shown }: EarlierSettings, config: Config) {
  if (isSame(addressesOf(connector, before), addressesOf(connector, config))) return [];
  return providerSecrets(connector)
    .filter((key) => config[key] !== undefined && !shown.has(key))
    .map((key) => ({
      path: pointer('body', 'configuration', key),
      message: `'${key}' must be sent again: these settings lead calls to another address, and the stored secret belongs to the previous one.`,
    }));
}

/** Returns the properties that tokens are bound to. With others, the stored tokens are worthless. */
function clientOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  return [config[OAUTH_KEYS.clientId], tokenUrlOf(connector, config).href, addressesOf(connector, config)];
}

/** Returns the target of requests within the provider's address, and what they contain. */
function requestTargetOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  const values = Object.keys(connector.auth.values ?? {}).map((key) => config[key]);
  // With client credentials, every new token is requested with the scope.
  const scope = connector.auth.grant === 'clientCredentials' ? config[OAUTH_KEYS.scope] : undefined;
  return [connector.baseUrl(config), values, scope];
}

export function isSameTarget(connector: OAuthConnector, before: Config, after: Config): boolean {
  return isSame(requestTargetOf(connector, before), requestTargetOf(connector, after));
}

export function isSameSecret(before: Config, after: Config): boolean {
  return before[OAUTH_KEYS.clientSecret] === after[OAUTH_KEYS.clientSecret];
}

/** Returns whether a change leaves everything alone that the provider would have to accept. */
export function isSameAccess(connector: OAuthConnector, before: Config, after: Config): boolean {
  const isSameClient = isSame(clientOf(connector, before), clientOf(connector, after));
  return isSameClient && isSameSecret(before, after) && isSameTarget(connector, before, after);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Asserts that the stored tokens can be used with the new settings.
 * @throws AppError REQUEST_INVALID that requests a new code
 */
export function assertSameClient(connector: OAuthConnector, earlier: EarlierSettings, after: Config): void {
  if (isSame(clientOf(connector, earlier.config), clientOf(connector, after))) return;
  const message = `${connector.name} granted access to another client or at another address. Send a new providerData.code with these settings.`;
  throw new AppError('REQUEST_INVALID', message, {
    details: [
      { path: '/body/providerData/code', message: 'is missing' },
      ...findStrayingSecrets(connector, earlier, after),
    ],
  });
}
