import type { Config, Connector } from '../connector/contract.ts';
import { AppError, pointer } from '../errors.ts';
import { invalidConfiguration, MASK, providerSecrets } from './configuration.ts';
import { tokenUrlOf } from './oauth/addresses.ts';
import { OAUTH_KEYS, type OAuthConnector } from './oauth/fields.ts';

/** What other settings mean for the secrets and tokens that are stored: which of them may stay, and who has to agree. */

/** The settings that an instance has when a caller changes them. */
export interface EarlierSettings {
  readonly config: Config;
  /** The keys that the caller gave, and not as masks. */
  readonly shown: ReadonlySet<string>;
}

export function readShown(given: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const isShown = (value: unknown) => value !== undefined && value !== null && value !== '' && value !== MASK;
  return new Set(Object.keys(given).filter((key) => isShown(given[key])));
}

/**
 * Whom the requests of an instance reach with these settings, and so who gets to see its secrets: origins and hosts, and
 * whether it is the simulator. Hosts that are no matter of settings are those of the provider, whatever is set.
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

/** What is no URL is refused elsewhere; here it is only another address than any URL. */
function originOf(address: string): string {
  return URL.parse(address)?.origin ?? address;
}

/**
 * A secret is stored for the address that it was given for. At another one it must come anew: otherwise everybody who may
 * change settings could read what is masked, at a server of their own.
 * @throws AppError REQUEST_INVALID that names every secret to send
 */
export function assertSecretsStay(connector: Connector, earlier: EarlierSettings | undefined, config: Config): void {
  const faults = earlier === undefined ? [] : findStrayingSecrets(connector, earlier, config);
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

/** The secrets that would go to another address than before without having been given anew. */
function findStrayingSecrets(connector: Connector, { config: before, shown }: EarlierSettings, config: Config) {
  if (isSame(addressesOf(connector, before), addressesOf(connector, config))) return [];
  return providerSecrets(connector)
    .filter((key) => config[key] !== undefined && !shown.has(key))
    .map((key) => ({
      path: pointer('body', 'configuration', key),
      message: `'${key}' must be sent again: these settings lead calls to another address, and the stored secret belongs to the previous one.`,
    }));
}

/** What tokens are bound to: with another of these, those that are there are worth nothing. */
function clientOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  return [config[OAUTH_KEYS.clientId], tokenUrlOf(connector, config).href, addressesOf(connector, config)];
}

/** Where calls go within the provider's address, and with what. */
function requestTargetOf(connector: OAuthConnector, config: Config): readonly unknown[] {
  const values = Object.keys(connector.auth.values ?? {}).map((key) => config[key]);
  // With client credentials every new token is asked for with the scope.
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

/** @throws AppError REQUEST_INVALID where the tokens of before cannot go on */
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
