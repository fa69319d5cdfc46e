import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProviderHost } from '../config/index.ts';
import { suggestName } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import { matchesHost } from './client/url.ts';
import { type ConnectorFolder, type ConnectorSources, findConnectorFolders, findPackage } from './connector-folders.ts';
import type { Connector } from './contract.ts';
import { provideContract } from './provide-contract.ts';
import { ConnectorError, findProblems } from './validate.ts';

/** The connectors of this process, by key and by id. */
export type Registry = ReturnType<typeof createRegistry>;

/**
 * Creates the registry of checked connectors.
 * @param allowed hosts that the operator allows in addition to those of the connectors
 * @throws ConnectorError that lists every problem of every connector, and every allowed host of an unknown element
 */
export function createRegistry(connectors: readonly Connector[], allowed: readonly ProviderHost[] = []) {
  const keys = connectors.map(({ key }) => key);
  const strangers = allowed.filter(({ element }) => !keys.includes(element));
  const problems = [
    ...findProblems(connectors),
    ...strangers.map(
      ({ element, host }) =>
        `PROVIDER_HOSTS allows ${host} for the element '${element}', which does not exist.${suggestName(element, keys)}`,
    ),
  ];
  if (problems.length > 0) throw new ConnectorError(problems);
  const sorted = connectors.map((connector) => allowHosts(connector, allowed)).sort((a, b) => (a.key < b.key ? -1 : 1));
  const byKeyOrId = new Map(
    sorted.flatMap((connector) => [
      [connector.key, connector],
      [String(connector.id), connector],
    ]),
  );
  return {
    connectors: sorted,
    findConnector: (keyOrId: string) => byKeyOrId.get(keyOrId),
    /**
     * Returns a connector.
     * @throws AppError NOT_FOUND that names the nearest key
     */
    getConnector: (keyOrId: string) => {
      const connector = byKeyOrId.get(keyOrId);
      if (connector !== undefined) return connector;
      const keys = sorted.map(({ key }) => key);
      throw missing('element', keyOrId, keys);
    },
  };
}

/** Adds allowed hosts to a connector. An instance reaches an allowed host only where its own base URL has that host. */
function allowHosts(connector: Connector, allowed: readonly ProviderHost[]): Connector {
  const patterns = allowed.filter(({ element }) => element === connector.key).map(({ host }) => host);
  if (patterns.length === 0) return connector;
  const { hosts, baseUrl } = connector;
  return {
    ...connector,
    hosts: (config) => {
      const known = typeof hosts === 'function' ? hosts(config) : hosts;
      const { host = '' } = URL.parse(baseUrl(config)) ?? {};
      return matchesHost(host, patterns) ? [...known, host] : known;
    },
  };
}

export { OWN_CONNECTORS } from './connector-folders.ts';

/**
 * Loads every `<folder>/<key>/index.ts`, and the `index.ts` of every package. Its default export is the connector.
 * @throws ConnectorError that lists every module without a connector, every package that is not installed, and every connector whose folder
 * or package does not have the name of its key
 */
export async function loadConnectors(sources: ConnectorSources): Promise<readonly Connector[]> {
  provideContract();
  const folders = await findConnectorFolders(sources, INDEX);
  const loaded = await Promise.all(folders.map(load));
  const missing = (sources.packages ?? []).filter((name) => findPackage(name) === undefined);
  const problems = [
    ...missing.map(
      (name) => `${name}: the package is not installed; \`npm install <its folder>\` where the service is started`,
    ),
    ...loaded.flatMap((result) => ('problem' in result ? [result.problem] : [])),
  ];
  if (problems.length > 0) throw new ConnectorError(problems);
  return loaded.flatMap((result) => ('connector' in result ? [result.connector] : []));
}

const INDEX = 'index.ts';

type Loaded = { readonly connector: Connector } | { readonly problem: string };

async function load({ key, folder }: ConnectorFolder): Promise<Loaded> {
  const module: { readonly default?: Connector } = await import(pathToFileURL(join(folder, INDEX)).href);
  const connector = module.default;
  if (connector === undefined) return { problem: `${key}: ${INDEX} has no default export` };
  const { contract = 1 } = connector;
  if (contract !== CONTRACT_VERSION) return { problem: `${key}: ${describeMismatch(contract)}` };
  if (connector.key === key) return { connector };
  return { problem: `${key}: the folder holds a connector with the key '${connector.key}'` };
}

const MAPPINGS = 'mappings.json';

/**
 * Reads every `<folder>/<key>/mappings.json`: the transformations that come with a connector.
 * @returns their content by the key of the connector
 * @throws ConnectorError that lists every file that is no JSON
 */
export async function loadConnectorMappings(sources: ConnectorSources): Promise<ReadonlyMap<string, unknown>> {
  const folders = await findConnectorFolders(sources, MAPPINGS);
  const problems: string[] = [];
  const read = folders.map(async ({ key, folder }): Promise<readonly [string, unknown]> => {
    const text = await readFile(join(folder, MAPPINGS), 'utf8');
    try {
      return [key, JSON.parse(text)];
    } catch (error) {
      problems.push(`${key}: ${MAPPINGS} is no JSON: ${error instanceof Error ? error.message : ''}`);
      return [key, {}];
    }
  });
  const mappings = new Map(await Promise.all(read));
  if (problems.length > 0) throw new ConnectorError(problems);
  return mappings;
}

/** The version of what `#connector` offers and a connector declares. It must be raised when a correct connector could go wrong. */
const CONTRACT_VERSION = 1;

function describeMismatch(version: number): string {
  return `it is written for version ${version} of the connector contract; this Causeway has version ${CONTRACT_VERSION}`;
}
