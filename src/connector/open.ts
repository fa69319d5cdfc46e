import { join } from 'node:path';
import type { Cleanup } from '../cleanup.ts';
import type { Config } from '../config/index.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS, type Registry } from './registry.ts';
import { startSimulators } from './simulators/index.ts';

export interface OpenedConnectors {
  readonly registry: Registry;
  /** Where they were loaded from. */
  readonly folders: readonly string[];
  /** Of the simulators, without a slash at the end; undefined: they do not run. */
  readonly simulatorsUrl: string | undefined;
}

/** Loads the connectors and, unless this is a worker, serves their simulators. @throws ConnectorError; whatever listening says */
export async function openConnectors(config: Config, cleanup: Cleanup): Promise<OpenedConnectors> {
  const { role, dataDir, connectorsPath } = config;
  const folders = [OWN_CONNECTORS, ...connectorsPath];
  const port = role === 'worker' ? undefined : config.simulatorsPort;
  const memoryFolder = join(dataDir, 'simulators');
  const [connectors, simulators] = await Promise.all([
    loadConnectors(folders),
    port === undefined ? undefined : startSimulators({ port, folders, memoryFolder }),
  ]);
  if (simulators !== undefined) cleanup.add('simulators', simulators.stop);
  return { registry: createRegistry(connectors), folders, simulatorsUrl: simulators?.url };
}
