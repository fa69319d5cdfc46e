import { existsSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CONNECTOR_PACKAGE } from '../config/formats.ts';

/** A folder with a connector: `index.ts`, and usually `simulator.ts` and `README.md`. */
export interface ConnectorFolder {
  readonly key: string;
  readonly folder: string;
}

/** The folders and packages that connectors are loaded from. */
export interface ConnectorSources {
  /** Folders whose subfolders are named by the keys of their connectors. */
  readonly folders: readonly string[];
  /** Names of npm packages: `causeway-connector-<key>`. */
  readonly packages?: readonly string[];
}

/** The folder of the connectors of this repository. */
export const OWN_CONNECTORS = resolve(import.meta.dirname, '../../connectors');

/** Returns every connector folder that has a file, such as `index.ts`. Packages have it in their root. */
export async function findConnectorFolders(
  { folders, packages = [] }: ConnectorSources,
  file: string,
): Promise<readonly ConnectorFolder[]> {
  const inFolders = (await Promise.all(folders.map(foldersIn))).flat();
  const found = [...inFolders, ...packages.flatMap((name) => findPackage(name) ?? [])];
  return found.filter(({ folder }) => existsSync(join(folder, file)));
}

async function foldersIn(folder: string): Promise<readonly ConnectorFolder[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name: key }) => ({ key, folder: join(folder, key) }));
}

/** Packages are searched as npm installs them: from the working directory and from the service upwards. */
const startsOfSearch = () => [process.cwd(), import.meta.dirname];

/** Returns the folder of an installed package, or undefined. Links are resolved, as Node.js does it. */
export function findPackage(name: string): ConnectorFolder | undefined {
  const key = CONNECTOR_PACKAGE.exec(name)?.[1];
  const folder = startsOfSearch()
    .flatMap(foldersAbove)
    .map((each) => join(each, 'node_modules', name))
    .find((each) => existsSync(each));
  return key === undefined || folder === undefined ? undefined : { key, folder: realpathSync(folder) };
}

function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}
