import type { Config, Connector } from '../connector/contract.ts';
import { pointer } from '../errors.ts';
import { invalidConfiguration, MASK, providerSecrets } from './configuration.ts';

/**
 * Whom the requests of an instance reach with these settings, and so who gets to see its secrets: origins and hosts, and
 * whether it is the simulator. Hosts that are no matter of settings are those of the provider, whatever is set.
 */
export function addressesOf(connector: Connector, config: Config): readonly unknown[] {
  const { auth, hosts } = connector;
  return [
    config.simulator === true,
    originOf(connector.baseUrl(config)),
    typeof hosts === 'function' ? hosts(config) : [],
    auth.type === 'oauth2' ? originOf(auth.tokenUrl(config)) : undefined,
  ];
}

/** What is no URL is refused elsewhere; here it is only another address than any URL. */
function originOf(address: string): string {
  return URL.parse(address)?.origin ?? address;
}

function hasSameAddresses(connector: Connector, one: Config, other: Config): boolean {
  return JSON.stringify(addressesOf(connector, one)) === JSON.stringify(addressesOf(connector, other));
}

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
 * A secret is stored for the address that it was given for. At another one it must come anew: otherwise everybody who may
 * change settings could read what is masked, at a server of their own.
 * @throws AppError REQUEST_INVALID that names every secret to send
 */
export function assertSecretsStay(connector: Connector, earlier: EarlierSettings | undefined, config: Config): void {
  const faults = earlier === undefined ? [] : findStrayingSecrets(connector, earlier, config);
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

/** The secrets that would go to another address than before without having been given anew. */
export function findStrayingSecrets(connector: Connector, { config: before, shown }: EarlierSettings, config: Config) {
  if (hasSameAddresses(connector, before, config)) return [];
  return providerSecrets(connector)
    .filter((key) => config[key] !== undefined && !shown.has(key))
    .map((key) => ({
      path: pointer('body', 'configuration', key),
      message: `'${key}' must be sent in clear: with these settings calls go to another address, and the secret that is stored was given for the one of before.`,
    }));
}
