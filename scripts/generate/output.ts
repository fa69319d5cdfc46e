import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfExists } from '../../src/db/files.ts';

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
    if ((await readFileIfExists(join(directory, name))) !== text) stale.push(name);
  }
  return stale;
}
