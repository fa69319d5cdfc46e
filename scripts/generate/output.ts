import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The texts of files by file name. */
export type Files = Readonly<Record<string, string>>;

export async function writeFiles(files: Files, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}

/** Returns the names of the files that are missing in the directory or have another text there. */
export async function findStaleFiles(files: Files, directory: string): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    if ((await readIfPresent(join(directory, name))) !== text) stale.push(name);
  }
  return stale;
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
