import { createSimulatorRoute, matchesHost, type SimulatorRoute } from '../../connector/client/url.ts';
import type { Config, Connector } from '../../connector/contract.ts';
import { AppError, inWords } from '../../errors.ts';
import type { OAuthConnector } from './fields.ts';

/**
 * Where a browser may be sent, by the parsed form (WHATWG URL): two texts that browsers take for the same address are
 * the same URL here, and only the parsed form ever gets into a `Location` header.
 */

/** Path on this service to which providers redirect browsers after an authorization (RFC 6749, section 3.1.2). */
export const CALLBACK_PATH = '/oauth/callback';

/** Browsers drop tabs and line breaks from a URL and read a backslash as a slash: what people see is not where it leads. */
const DECEPTIVE = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\\]/u;
/** Browsers also take `https:host` and `https:///host`; nobody means them. */
const WEB_URL = /^https?:\/\/[^/]/i;

/** A web address without user name, password and fragment; undefined for anything else. */
export function parseRedirectUrl(text: string): URL | undefined {
  if (DECEPTIVE.test(text) || text.includes('#') || !text.isWellFormed() || !WEB_URL.test(text)) return undefined;
  const url = URL.parse(text);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url;
}

/** @throws AppError REQUEST_INVALID that says what the URL must be like; `path` is its place in the request */
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

/** @throws AppError REQUEST_INVALID when the settings make no address at one of the connector's hosts */
export function authorizeUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.authorizeUrl ?? connector.auth.tokenUrl);
}

/** @throws AppError REQUEST_INVALID when the settings make no address at one of the connector's hosts */
export function tokenUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.tokenUrl);
}

/** @throws AppError REQUEST_INVALID when the settings make no address at one of the connector's hosts */
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

/** Undefined for the provider itself. @throws AppError REQUEST_INVALID where no simulators run */
export function simulatorOf(
  simulatorsUrl: string | undefined,
  connector: Connector,
  config: Config,
): SimulatorRoute | undefined {
  return config.simulator === true ? createSimulatorRoute(simulatorsUrl, connector) : undefined;
}
