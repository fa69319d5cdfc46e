import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OfficialDescription } from '../../src/connector/simulator/index.ts';
import type { Choices } from './choices.ts';
import { readDiscovery } from './discovery.ts';
import { firstConnector } from './first-connector.ts';
import { readGraphql } from './graphql.ts';
import { readOData } from './odata.ts';
import { chooseOfficial, compareOfficial, type Described } from './official.ts';
import { readOpenApi } from './openapi.ts';
import { readmeText } from './texts.ts';

/** The readers of a provider's descriptions by kind. That of a GraphQL schema needs to know what to keep. */
const READERS = { openapi: readOpenApi, odata: readOData, discovery: readDiscovery };

export const DOCUMENT_KINDS = ['openapi', 'odata', 'discovery', 'graphql'] as const;

/** A provider's description: the file, or for OpenAPI also a folder of files. */
export interface ProviderDocument {
  readonly kind: (typeof DOCUMENT_KINDS)[number];
  readonly file: string;
}

interface Description {
  readonly choices: Choices;
  /** The folder of the connector. */
  readonly folder: string;
  /** The folder of this repository, which has the formatter. */
  readonly root: string;
  readonly document: ProviderDocument;
  /** The object and input types of a GraphQL schema that the connector uses. Default: those of official.json. */
  readonly types?: readonly string[] | undefined;
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
  const file = join(folder, 'official.json');
  const before = existsSync(file) ? readOfficial(await readFile(file, 'utf8'), file) : undefined;
  const documents = await readDocuments(given, before, folder);
  const all = documents.flatMap(({ operations }) => Object.keys(operations));
  const after = chooseOfficial(documents, {
    operations: given.operations ?? (before === undefined ? all : Object.keys(before.operations)),
    source: given.source ?? before?.source,
    version: given.version,
  });
  await writeFile(file, JSON.stringify(after));
  await format(file, root);
  const lines = before === undefined ? summaryOf(after) : changesSince(before, after);
  // A GraphQL schema does not say which of its fields list an object, so there is no first connector.
  if (given.document.kind === 'graphql' || existsSync(join(folder, 'index.ts'))) return lines;
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

async function readDocuments(
  { document: { kind, file }, ...given }: Pick<Description, 'document' | 'operations' | 'types'>,
  before: OfficialDescription | undefined,
  folder: string,
): Promise<readonly Described[]> {
  if (kind !== 'graphql') return READERS[kind](file);
  const objects = Object.entries(before?.schemas ?? {}).filter(([, { type }]) => type === 'object');
  const { described, source } = await readGraphql(file, {
    operations: given.operations ?? Object.keys(before?.operations ?? {}),
    types: given.types ?? objects.map(([name]) => name),
  });
  await writeFile(join(folder, 'official.graphql'), source);
  return [described];
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
