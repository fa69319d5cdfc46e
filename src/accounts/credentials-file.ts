import { join } from 'node:path';
import { ensureDataDir } from '../db/data-dir.ts';
import { parseJsonObject, readFileIfExists, replaceFile } from '../db/files.ts';
import type { FirstCredentials } from './new-organization.ts';

interface CredentialsFileContent {
  /** Credentials of a new tenant. Without them an existing file keeps its content. */
  readonly created?: FirstCredentials | undefined;
  /** Base URL of the API, without a trailing slash. */
  readonly baseUrl: string;
}

const FILE_NAME = 'credentials.json';

/**
 * Writes `credentials.json` (mode 600, in one step), so that a person can make the first call. A later start only
 * brings `baseUrl` up to date.
 * @returns the file's path; undefined when there is no file and nothing to put in it: the secrets of a tenant made elsewhere are not known here
 */
export async function writeCredentials(
  dataDir: string,
  { created, baseUrl }: CredentialsFileContent,
): Promise<string | undefined> {
  await ensureDataDir(dataDir);
  const path = join(dataDir, FILE_NAME);
  const current = await readCredentials(path);
  if (created === undefined && current === undefined) return undefined;
  if (created === undefined && current?.baseUrl === baseUrl) return path;
  await replaceFile(path, `${JSON.stringify({ ...current, ...created, baseUrl }, undefined, 2)}\n`);
  return path;
}

async function readCredentials(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  const content = parseJsonObject(text);
  if (content === undefined) throw new Error(`${path} does not hold a JSON object; move it away and start again`);
  return content;
}
