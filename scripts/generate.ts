/**
 * Generates `generated/` from `spec/`, from the declarations of the connectors and from the source of the kit. With `--check` it writes
 * nothing, names every file that is not up to date, and exits with 1.
 */
import { join } from 'node:path';
import { findStaleFiles, writeFiles } from './generate/output.ts';
import { hashFiles, keepHash, readHash } from './generate/seen.ts';

const ROOT = join(import.meta.dirname, '..');
const GENERATED = join(ROOT, 'generated');
const MAKERS = ['scripts/generate.ts', 'scripts/generate', 'package-lock.json'];

/** The generated files and their sources. Tests generate all of them again. */
const SETS = {
  api: { inputs: ['spec', ...MAKERS], outputs: ['openapi.json', 'openapi-types.ts', 'key-scopes.ts', 'operations.ts'] },
  connectors: {
    inputs: ['connectors', 'suite', 'src', 'scripts/demos.ts', ...MAKERS],
    outputs: ['catalogue.md', 'elements.md', 'pushdown.md'],
  },
  kit: {
    inputs: ['src/connector', 'src/numbers', 'src/where', 'src/clock.ts', 'suite', ...MAKERS],
    outputs: ['kit.json'],
  },
} as const;

async function main(check: boolean): Promise<number> {
  const stale: string[] = [];
  for (const [name, { inputs, outputs }] of Object.entries(SETS)) {
    const paths = [...inputs, ...outputs.map((file) => `generated/${file}`)];
    const hash = () => hashFiles(ROOT, paths);
    if (check && (await readHash(ROOT, name)) === (await hash())) continue;
    const files = await make(name);
    if (files === undefined) return 1;
    const found = check ? await findStaleFiles(files, GENERATED) : [];
    stale.push(...found);
    if (!check) await writeFiles(files, GENERATED);
    if (found.length === 0) await keepHash(ROOT, name, await hash());
  }
  for (const name of stale) console.error(`generated/${name} is not up to date. Run: npm run generate`);
  return stale.length === 0 ? 0 : 1;
}

/**
 * Returns the files of a set. Undefined if `spec/` has problems, which are printed. The generators are loaded here, because most checks
 * need none of them.
 */
async function make(name: string) {
  const { makeApiFiles, makeConnectorFiles, makeKitFiles } = await import('./generate/files.ts');
  if (name === 'kit') return makeKitFiles();
  if (name === 'connectors') return makeConnectorFiles();
  const { readSpec, describeProblem } = await import('./generate/document.ts');
  const { document, problems } = await readSpec(join(ROOT, 'spec/openapi.yaml'));
  for (const problem of problems) console.error(describeProblem(problem, ROOT));
  return problems.length > 0 ? undefined : makeApiFiles(document);
}

process.exitCode = await main(process.argv.includes('--check'));
