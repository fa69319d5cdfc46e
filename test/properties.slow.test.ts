import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Runs the property tests of `npm test` once more, with all their runs. */
const ROOT = resolve(import.meta.dirname, '..');
const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/*.slow.test.ts'] }).sort();
const ofProperties = files.filter((file) => /numRuns: runs\(|= runs\(/.test(readFileSync(join(ROOT, file), 'utf8')));

for (const file of ofProperties) await import(join(ROOT, file));
