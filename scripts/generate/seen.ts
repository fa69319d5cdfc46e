import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrnoException, readFileIfExists } from '../../src/db/files.ts';

const TEST = /\.test\.ts$/;

/** Returns one hash over the names and contents of files. A folder stands for all files below it, except tests. */
export async function hashFiles(root: string, paths: readonly string[]): Promise<string> {
  const files = (await Promise.all(paths.map((path) => filesAt(root, path)))).flat().filter((file) => !TEST.test(file));
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\n`).update((await readFileIfExists(join(root, file))) ?? '\0');
  return hash.digest('hex');
}

async function filesAt(root: string, path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
  } catch (error) {
    if (isErrnoException(error, 'ENOTDIR') || isErrnoException(error, 'ENOENT')) return [path];
    throw error;
  }
}

const keptAt = (root: string, name: string) => join(root, 'node_modules/.cache/generated', name);

/** Returns the stored hash of files that were up to date. */
export function readHash(root: string, name: string): Promise<string | undefined> {
  return readFileIfExists(keptAt(root, name));
}

export async function keepHash(root: string, name: string, hash: string): Promise<void> {
  const file = keptAt(root, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, hash);
}
