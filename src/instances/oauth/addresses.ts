import { createSimulatorRoute, matchesHost, type SimulatorRoute } from '../../connector/client/url.ts';
import type { Config, Connector } from '../../connector/contract.ts';
import { AppError, inWords } from '../../errors.ts';
import type { OAuthConnector } from './fields.ts';

/**
 * Addresses to which a browser may be redirected, in their parsed form (WHATWG URL). Texts that browsers read as the same address are the
 * same URL here, and only the parsed form is written into a `Location` header.
 */

/** Path on this service to which providers redirect browsers after an authorization (RFC 6749, section 3.1.2). */
export const CALLBACK_PATH = '/oauth/callback';

/** Browsers remove tabs and line breaks from a URL and read a backslash as a slash, so people would see another address. */
const DECEPTIVE = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\\]/u;
/** Browsers also accept `https:host` and `https:///host`, which are always mistakes. */
const WEB_URL = /^https?:\/\/[^/]/i;

/** Parses a web address without user name, password and fragment. Returns undefined for anything else. */
export function parseRedirectUrl(text: string): URL | undefined {
  if (DECEPTIVE.test(text) || text.includes('#') || !text.isWellFormed() || !WEB_URL.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url;
}

/**
 * Reads a redirect URL.
 * @param path the JSON pointer of the URL in the request
 * @throws AppError REQUEST_INVALID that describes a valid URL
 */
export function readRedirectUrl(text: string, path: string): URL {
  const url = parseRedirectUrl(text);
  if (url !== undefined) return url;
  const message = `${inWords(path)} must be an absolute http or https URL without user name, password, fragment, blank, backslash or control character.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path, message }] });
}

/** Returns whether the URL leads to a host that the connector has with these settings. */
export function isOfProvider({ hosts }: Connector, config: Config, { host }: URL): boolean {
  return matchesHost(host, typeof hosts === 'function' ? hosts(config) : hosts);
}

/**
 * Returns the authorization endpoint.
 * @throws AppError REQUEST_INVALID when the settings result in no address at one of the connector's hosts
 */
export function authorizeUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.authorizeUrl ?? connector.auth.tokenUrl);
}

/**
 * Returns the token endpoint.
 * @throws AppError REQUEST_INVALID when the settings result in no address at one of the connector's hosts
 */
export function tokenUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.tokenUrl);
}

/**
 * Returns the endpoint for refresh tokens.
 * @throws AppError REQUEST_INVALID when the settings result in no address at one of the connector's hosts
 */
export function refreshUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.refreshUrl ?? connector.auth.tokenUrl);
}

function readAddress(connector: OAuthConnector, config: Config, addressOf: (config: Config) => string): URL {
  const url = parseRedirectUrl(addressOf(config));
  if (url === undefined) {
    throw new AppError(
      'REQUEST_INVALID',
      `The settings result in no usable address of ${connector.name}. Correct the address in the configuration.`,
    );
  }
  if (isOfProvider(connector, config, url)) return url;
  throw new AppError(
    'REQUEST_INVALID',
    `The settings result in the host ${url.host}, which is not a host of ${connector.name}. Correct the address in the configuration.`,
  );
}

/**
 * Returns the route to the simulator. Undefined for the provider itself.
 * @throws AppError REQUEST_INVALID where no simulators run
 */
export function simulatorOf(
  simulatorsUrl: string | undefined,
  connector: Connector,
  config: Config,
): SimulatorRoute | undefined {
  return config.simulator === true ? createSimulatorRoute(simulatorsUrl, connector) : undefined;
}
