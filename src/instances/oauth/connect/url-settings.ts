import { matchesHost } from '../../../connector/client/url.ts';
import type { Config } from '../../../connector/contract.ts';
import { AppError, pointer } from '../../../errors.ts';
import { hostsOf } from '../endpoint/addresses.ts';
import { OAUTH_KEYS } from '../fields.ts';
import type { OAuthConnector } from '../grant.ts';
import { parseRedirectUrl } from '../proxies/redirect-url.ts';

interface Given {
  readonly siteAddress?: string | undefined;
  readonly sandbox?: boolean | undefined;
  readonly simulator?: boolean | undefined;
  readonly scope?: string | undefined;
}

/**
 * The configuration keys that the parameters of an authorization URL stand for; an instance made with its code has them.
 * @throws AppError REQUEST_INVALID for one that the element does not take, and for a host that is not the provider's
 */
export function readUrlSettings(connector: OAuthConnector, given: Given): Config {
  const { siteAddressKey, sandboxKey } = connector.auth;
  const { siteAddress, sandbox, simulator, scope } = given;
  const settings: Config = {
    ...(simulator !== undefined && { simulator }),
    ...(sandbox !== undefined && { [keyOf(connector, sandboxKey, 'sandbox')]: sandbox }),
    ...(scope !== undefined && { [OAUTH_KEYS.scope]: scope }),
  };
  if (siteAddress === undefined) {
    assertSiteAddressIsKnown(connector);
    return settings;
  }
  return { ...settings, [keyOf(connector, siteAddressKey, 'siteAddress')]: readSite(connector, settings, siteAddress) };
}

/** With the defaults of the connector's own keys. */
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

function assertSiteAddressIsKnown({ name, auth, configuration }: OAuthConnector): void {
  const field = configuration.find(({ key }) => key === auth.siteAddressKey);
  if (field?.required !== true) return;
  throw invalidParameter('siteAddress', `siteAddress is missing: ${name} has a host of its own for every customer.`);
}

function readSite(connector: OAuthConnector, settings: Config, text: string): string {
  const { name, auth, configuration } = connector;
  const url = parseRedirectUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === undefined || url.search !== '') {
    throw invalidParameter(
      'siteAddress',
      'siteAddress must be the address of your account, such as https://acme.example.com.',
    );
  }
  const field = configuration.find(({ key }) => key === auth.siteAddressKey);
  const site = field?.type === 'url' ? url.href.replace(/\/+$/, '') : url.host;
  const config = settingsOfUrl(connector, { ...settings, [field?.key ?? '']: site });
  if (matchesHost(url.host, hostsOf(connector, config))) return site;
  throw invalidParameter('siteAddress', `siteAddress leads to the host ${url.host}, which is not a host of ${name}.`);
}

export function invalidParameter(parameter: string, message: string): AppError {
  return new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', parameter), message }] });
}
