import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Runs the suite of every connector once more, with the effort that `CONFORMANCE=full` of `npm run test:all` asks for. */
const ROOT = resolve(import.meta.dirname, '..', '..');

for (const file of globSync('connectors/*/suite.test.ts', { cwd: ROOT }).sort()) await import(join(ROOT, file));
