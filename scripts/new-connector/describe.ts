import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OfficialDescription } from '../../src/connector/simulator/index.ts';
import type { Choices } from './choices.ts';
import { firstConnector } from './first-connector.ts';
import { readOData } from './odata.ts';
import { chooseOfficial, compareOfficial, type Described } from './official.ts';
import { readOpenApi } from './openapi.ts';
import { readmeText } from './texts.ts';

interface Description {
  readonly choices: Choices;
  /** The folder of the connector. */
  readonly folder: string;
  /** The folder of this repository, which has the formatter. */
  readonly root: string;
  /** The file or folder of OpenAPI documents. */
  readonly openapi: string | undefined;
  /** The file of the $metadata of an OData service. */
  readonly odata: string | undefined;
  /** Further files of a new connector. */
  readonly files: Readonly<Record<string, string>>;
  readonly operations?: readonly string[] | undefined;
  readonly source?: string | undefined;
  readonly version?: string | undefined;
}

/**
 * Writes or updates `official.json` from a provider's description. Where there is no connector yet, it also writes the first one.
 * @returns what was written or changed, one line each
 */
export async function describeConnector({ choices, folder, root, ...given }: Description): Promise<readonly string[]> {
  const documents = await readDocuments(given);
  const file = join(folder, 'official.json');
  const before = existsSync(file) ? readOfficial(await readFile(file, 'utf8'), file) : undefined;
  const all = documents.flatMap(({ operations }) => Object.keys(operations));
  const after = chooseOfficial(documents, {
    operations: given.operations ?? (before === undefined ? all : Object.keys(before.operations)),
    source: given.source ?? before?.source,
    version: given.version,
  });
  await writeFile(file, JSON.stringify(after));
  await format(file, root);
  const lines = before === undefined ? summaryOf(after) : changesSince(before, after);
  if (existsSync(join(folder, 'index.ts'))) return lines;
  const { source, unknown } = firstConnector(choices, after, documents);
  const open = unknown.map((sentence) => `- ${sentence}`);
  const files = { ...given.files, 'index.ts': source, 'README.md': withUnknown(readmeText(choices), after, open) };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await format(join(folder, 'index.ts'), root);
  return [...lines, 'index.ts: a first connector. The description does not say:', ...open];
}

/** Returns the README with the source of the facts and with what they do not say. */
function withUnknown(readme: string, { source, version }: OfficialDescription, open: readonly string[]): string {
  return readme
    .replace('The page of the provider for each fact.', `${source} (${version}), from which \`official.json\` is made.`)
    .replace('What you assumed, because no page says it.', open.join('\n'));
}

async function readDocuments({
  openapi,
  odata,
}: Pick<Description, 'openapi' | 'odata'>): Promise<readonly Described[]> {
  if (openapi !== undefined) return readOpenApi(openapi);
  return odata === undefined ? [] : readOData(odata);
}

/** Returns a stored description. @throws Error for a file of another form */
function readOfficial(text: string, file: string): OfficialDescription {
  const { source, version, operations, schemas }: Partial<OfficialDescription> = JSON.parse(text);
  if (source === undefined || version === undefined || operations === undefined || schemas === undefined) {
    throw new Error(`${file} was not made from a description: it has no source, version, operations and schemas.`);
  }
  return { source, version, operations, schemas };
}

/** The formatter puts what fits onto one line. */
async function format(file: string, root: string): Promise<void> {
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  await promisify(execFile)(process.execPath, [biome, 'check', '--write', '--config-path', root, file]);
}

function summaryOf({ operations, schemas }: OfficialDescription): readonly string[] {
  return [`official.json: ${Object.keys(operations).length} operations, ${Object.keys(schemas).length} schemas`];
}

function changesSince(before: OfficialDescription, after: OfficialDescription): readonly string[] {
  const changes = compareOfficial(before, after);
  return changes.length === 0 ? ['official.json: nothing changed'] : ['official.json:', ...changes];
}
