import { join } from 'node:path';
import type { Cleanup } from '../cleanup.ts';
import type { ServiceConfig } from '../config/index.ts';
import type { Connector } from './contract.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS, type Registry } from './registry.ts';
import { startSimulators } from './simulators/index.ts';

/** For tests of a connector. */
export interface GivenConnectors {
  /** In place of all others. */
  readonly connectors?: readonly Connector[] | undefined;
  /** Where their simulators run, if not here. */
  readonly simulatorsUrl?: string | undefined;
}

export interface OpenedConnectors {
  readonly registry: Registry;
  /** Where they were loaded from. */
  readonly folders: readonly string[];
  /** Of the simulators, without a slash at the end; undefined: they do not run. */
  readonly simulatorsUrl: string | undefined;
}

/** Loads the connectors and, unless this is a worker, serves their simulators. @throws ConnectorError; whatever listening says */
export async function openConnectors(
  config: ServiceConfig,
  cleanup: Cleanup,
  given: GivenConnectors = {},
): Promise<OpenedConnectors> {
  const { role, dataDir, connectorsPath } = config;
  const folders = [OWN_CONNECTORS, ...connectorsPath];
  const sources = { folders, packages: config.connectors };
  const port = role === 'worker' ? undefined : config.simulatorsPort;
  const memoryFolder = join(dataDir, 'simulators');
  const [connectors, simulators] = await Promise.all([
    given.connectors ?? loadConnectors(sources),
    port === undefined ? undefined : startSimulators({ port, sources, memoryFolder }),
  ]);
  if (simulators !== undefined) cleanup.add('simulators', simulators.stop);
  const simulatorsUrl = given.simulatorsUrl ?? simulators?.url;
  return { registry: createRegistry(connectors), folders, simulatorsUrl };
}
