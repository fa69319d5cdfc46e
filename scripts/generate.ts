/** Makes `generated/` from `spec/`. With `--check` it writes nothing, names every file that is not up to date and exits 1. */
import { join } from 'node:path';
import { readSpec } from './generate/document.ts';
import { makeFiles } from './generate/files.ts';
import { findStaleFiles, writeFiles } from './generate/output.ts';
import { describeProblem } from './generate/problem.ts';

const ROOT = join(import.meta.dirname, '..');
const GENERATED = join(ROOT, 'generated');

async function main(check: boolean): Promise<number> {
  const { document, problems } = await readSpec(join(ROOT, 'spec/openapi.yaml'));
  for (const problem of problems) console.error(describeProblem(problem, ROOT));
  if (problems.length > 0) return 1;
  const files = await makeFiles(document);
  if (check) return reportStale(await findStaleFiles(files, GENERATED));
  await writeFiles(files, GENERATED);
  return 0;
}

function reportStale(names: readonly string[]): number {
  for (const name of names) console.error(`generated/${name} is not up to date. Run: npm run generate`);
  return names.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.includes('--check'));
