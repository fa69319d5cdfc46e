import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findConnectorFolders } from '../src/connector/connector-folders.ts';
import type { Config, Connector } from '../src/connector/index.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from '../src/connector/registry.ts';
import { listen } from '../src/connector/simulators/server.ts';
import { connect, type DiscoveredConnection } from '../suite/testing.ts';

/**
 * A connector of this repository, configured for the demo account of its simulator. Settings that a user would bring along are those of the
 * simulator.
 */
export interface Demo {
  readonly connector: Connector;
  readonly connection: DiscoveredConnection;
}

/** Calls `use` for each connector of this repository that has a simulator, one after the other. Returns the results by key. */
export async function forEachDemo<Result>(use: (demo: Demo) => Promise<Result>): Promise<readonly Result[]> {
  const sources = { folders: [OWN_CONNECTORS] };
  const { server, url: simulatorsUrl } = await listen({ port: 0, sources });
  try {
    const { connectors } = createRegistry(await loadConnectors(sources));
    const simulated = (await findConnectorFolders(sources, 'simulator.ts')).map(({ key }) => key);
    const results: Result[] = [];
    for (const connector of connectors.filter(({ key }) => simulated.includes(key))) {
      const config = await readDemoConfiguration(connector.key);
      results.push(
        await use({ connector, connection: await connect(connector, { config, simulatorsUrl }).discover() }),
      );
    }
    return results;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns the demo configuration of a connector. With OAuth, it contains an access token that the simulator accepts without a log-in. */
export async function readDemoConfiguration(key: string): Promise<Config> {
  const file = pathToFileURL(join(OWN_CONNECTORS, key, 'simulator.ts')).href;
  const module: { readonly DEMO_CONFIGURATION?: Config; readonly DEMO_ACCESS_TOKEN?: string } = await import(file);
  const { DEMO_CONFIGURATION: config, DEMO_ACCESS_TOKEN: token } = module;
  if (config === undefined) throw new Error(`The simulator of ${key} exports no DEMO_CONFIGURATION.`);
  return token === undefined ? config : { ...config, 'oauth.user.token': token };
}
