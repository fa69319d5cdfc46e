import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, cutText, suggestName } from '../errors.ts';
import type { Connector } from './contract.ts';
import { type ConnectorPlace, type ConnectorSources, findPackage, findPlaces } from './places.ts';
import { provideContract } from './provide-contract.ts';
import { ConnectorError, findProblems } from './validate.ts';

/** The connectors this process has, by key and by id. */
export interface Registry {
  readonly connectors: readonly Connector[];
  readonly findConnector: (keyOrId: string) => Connector | undefined;
  /** @throws AppError NOT_FOUND with the nearest key */
  readonly getConnector: (keyOrId: string) => Connector;
}

/** @throws ConnectorError that lists every problem of every connector. */
export function createRegistry(connectors: readonly Connector[]): Registry {
  const problems = findProblems(connectors);
  if (problems.length > 0) throw new ConnectorError(problems);
  const sorted = [...connectors].sort((a, b) => (a.key < b.key ? -1 : 1));
  const byKeyOrId = new Map(
    sorted.flatMap((connector) => [
      [connector.key, connector],
      [String(connector.id), connector],
    ]),
  );
  return {
    connectors: sorted,
    findConnector: (keyOrId) => byKeyOrId.get(keyOrId),
    getConnector: (keyOrId) => {
      const connector = byKeyOrId.get(keyOrId);
      if (connector !== undefined) return connector;
      const keys = sorted.map(({ key }) => key);
      throw new AppError('NOT_FOUND', `There is no element '${cutText(keyOrId)}'.${suggestName(keyOrId, keys)}`);
    },
  };
}

export { OWN_CONNECTORS } from './places.ts';

/**
 * Loads every `<folder>/<key>/index.ts`, and the `index.ts` of every package; its default export is the connector.
 * @throws ConnectorError that lists every module without one, every package that is not installed, and every connector whose folder or
 * package is not named as its key
 */
export async function loadConnectors(sources: ConnectorSources): Promise<readonly Connector[]> {
  provideContract();
  const places = await findPlaces(sources, INDEX);
  const loaded = await Promise.all(places.map(load));
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

async function load({ key, folder }: ConnectorPlace): Promise<Loaded> {
  const module: { readonly default?: Connector } = await import(pathToFileURL(join(folder, INDEX)).href);
  const connector = module.default;
  if (connector === undefined) return { problem: `${key}: ${INDEX} has no default export` };
  const { contract = 1 } = connector;
  if (contract !== CONTRACT_VERSION) return { problem: `${key}: ${describeMismatch(contract)}` };
  if (connector.key === key) return { connector };
  return { problem: `${key}: the folder holds a connector with the key '${connector.key}'` };
}

/** Of what `#connector` offers and a connector declares. Raised when a connector that was right could go wrong. */
const CONTRACT_VERSION = 1;

function describeMismatch(version: number): string {
  return `it is written for version ${version} of the connector contract; this Causeway has version ${CONTRACT_VERSION}`;
}
