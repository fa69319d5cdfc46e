/**
 * Checks format and lint of the files that have changed since their last check without a fault. Hashes of the checked files are stored in
 * node_modules/.cache.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFileIfExists } from '../src/db/files.ts';
import { hashFiles } from './generate/seen.ts';

const ROOT = join(import.meta.dirname, '..');
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
const KEPT = join(ROOT, 'node_modules/.cache/style');
/** With another version of Biome or other rules, all files are checked again. */
const SETTINGS = ['biome.json', 'package-lock.json'];
/** Folders that are large, and that biome.json excludes too. */
const SKIPPED = ['**/node_modules', '.git', 'generated', '**/.data'];

const settings = await hashFiles(ROOT, SETTINGS);
const known = new Set((await readFileIfExists(KEPT))?.split('\n'));
const files = globSync(['**/*.*', '.*.json'], { cwd: ROOT, exclude: SKIPPED, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1));
const hashes = new Map(files.map((file) => [file, hashOf(file)]));
const unknown = files.filter((file) => !known.has(hashes.get(file) ?? ''));

const options = ['--no-errors-on-unmatched', '--files-ignore-unknown=true'];
// In a new clone no file is known, and the names of all files would make a long command. Biome then checks the whole folder.
const status = unknown.length === 0 ? 0 : check(known.size === 0 ? [] : [...options, ...unknown]);
if (status === 0) {
  await mkdir(dirname(KEPT), { recursive: true });
  await writeFile(KEPT, [...hashes.values()].join('\n'));
}
process.exitCode = status;

function hashOf(file: string): string {
  return createHash('sha256')
    .update(settings)
    .update(file)
    .update(readFileSync(join(ROOT, file)))
    .digest('hex');
}

function check(parameters: readonly string[]): number {
  const { status } = spawnSync(process.execPath, [BIOME, 'check', ...parameters], { cwd: ROOT, stdio: 'inherit' });
  // The status is null if a signal has ended the process.
  return status ?? 1;
}
