/**
 * Prints the lines of each connector by part, and the share of random filters on the fields of its objects that its provider answers.
 * `node scripts/bench/filters.ts [key …] [--filters 200] [--seed 1]`: filters for each object.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import type { ObjectSpec } from '../../src/connector/index.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { type Decision, type Plan, prepareQuery } from '../../src/where/index.ts';
import { filtersOn, printFilter } from '../../suite/filters.ts';
import { asListed } from '../../suite/target.ts';
import { type Demo, forEachDemo } from '../demos.ts';

const { values: options, positionals: keys } = parseArgs({
  options: { filters: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});

/**
 * Outcomes of a predicate: the provider answers it, it returns more rows, which we filter, or it does not see the predicate. A `decided` one
 * is about values that its field can never or always hold, so it needs no request.
 */
const FATES = ['exact', 'superset', 'local', 'decided'] as const;
const PUSHDOWNS = ['full', 'partial', 'none'] as const;

async function measure({ connector: { key }, connection }: Demo): Promise<Readonly<Record<string, string>>> {
  const fates: (typeof FATES)[number][] = [];
  const pushdowns: (typeof PUSHDOWNS)[number][] = [];
  const objects = Object.values(connection.objects)
    .map(asListed)
    .filter(({ list, requiredFilters = [] }) => list !== undefined && requiredFilters.length === 0);
  for (const object of keys.length === 0 || keys.includes(key) ? objects : []) {
    for (const plan of plansOf(object, await connection.listAll(object))) {
      pushdowns.push(plan.pushdown);
      fates.push(...plan.decisions.map((decision) => fateOf(decision, plan)));
    }
  }
  const lines = countLines(key);
  return {
    connector: key,
    lines: String(lines.connector),
    simulator: String(lines.simulator),
    tests: String(lines.tests),
    objects: String(objects.length),
    ...Object.fromEntries(FATES.map((fate) => [fate, share(fates, fate)])),
    ...Object.fromEntries(PUSHDOWNS.map((pushdown) => [`filters ${pushdown}`, share(pushdowns, pushdown)])),
  };
}

function plansOf(object: ObjectSpec, rows: Parameters<typeof filtersOn>[0]['rows']): readonly Plan[] {
  const filters = fc.sample(filtersOn({ object, rows }), {
    numRuns: Number(options.filters),
    seed: Number(options.seed),
  });
  return filters.map((filter) => prepareQuery({ where: printFilter(filter) }, object).plan);
}

function fateOf({ holds, pushed, exactness }: Decision, plan: Plan): (typeof FATES)[number] {
  if (holds !== undefined || plan.holds !== undefined) return 'decided';
  return pushed && exactness !== 'none' ? exactness : 'local';
}

function countLines(key: string): Readonly<Record<'connector' | 'simulator' | 'tests', number>> {
  const lines = { connector: 0, simulator: 0, tests: 0 };
  for (const file of globSync('**/*.ts', { cwd: join(OWN_CONNECTORS, key) })) {
    const part = file.endsWith('.test.ts') ? 'tests' : /^simulator[./]/.test(file) ? 'simulator' : 'connector';
    lines[part] += readFileSync(join(OWN_CONNECTORS, key, file), 'utf8').split('\n').length - 1;
  }
  return lines;
}

function share<Value>(all: readonly Value[], one: Value): string {
  return `${((100 * all.filter((each) => each === one).length) / Math.max(all.length, 1)).toFixed(1)} %`;
}

const rows = (await forEachDemo(measure)).filter(({ connector = '' }) => keys.length === 0 || keys.includes(connector));
const names = Object.keys(rows[0] ?? {});
for (const cells of [names, names.map(() => '---'), ...rows.map((row) => names.map((name) => row[name] ?? ''))])
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
