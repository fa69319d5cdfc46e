import { createSimulatorRoute, matchesHost, type SimulatorRoute } from '../../../connector/client/url.ts';
import type { Config, Connector } from '../../../connector/contract.ts';
import { AppError } from '../../../errors.ts';
import type { OAuthConnector } from '../grant.ts';
import { parseRedirectUrl } from '../proxies/redirect-url.ts';

export function hostsOf({ hosts }: Connector, config: Config): readonly string[] {
  return typeof hosts === 'function' ? hosts(config) : hosts;
}

/** @throws AppError REQUEST_INVALID when the settings make no address at one of the connector's hosts */
export function authorizeUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.authorizeUrl ?? connector.auth.tokenUrl);
}

/** @throws AppError REQUEST_INVALID when the settings make no address at one of the connector's hosts */
export function tokenUrlOf(connector: OAuthConnector, config: Config): URL {
  return readAddress(connector, config, connector.auth.tokenUrl);
}

function readAddress(connector: OAuthConnector, config: Config, addressOf: (config: Config) => string): URL {
  const url = parseRedirectUrl(addressOf(config));
  if (url === undefined) {
    throw new AppError(
      'REQUEST_INVALID',
      `The settings make no usable address of ${connector.name}. Correct the address in the configuration.`,
    );
  }
  if (matchesHost(url.host, hostsOf(connector, config))) return url;
  throw new AppError(
    'REQUEST_INVALID',
    `The settings lead to the host ${url.host}, which is not a host of ${connector.name}. Correct the address in the configuration.`,
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
