/**
 * What each connector is and can: its lines, and how much of one common set of random filters its provider answers.
 * `node scripts/bench/filters.ts [key …] [--filters 200] [--seed 1] [--suite] [--json]`: `--suite` runs the suites, too, and says how long
 * they took; with CONFORMANCE=full they try everything.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ObjectSpec } from '../../src/connector/index.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import type { Filter } from '../../src/where/ast.ts';
import { type Decision, type Plan, prepareQuery } from '../../src/where/index.ts';
import { printFilter } from '../../suite/filters.ts';
import { asListed, type Row } from '../../suite/target.ts';
import { type Demo, forEachDemo } from '../demos.ts';
import { commonFilters, putOn } from './common-filters.ts';

const { values: options, positionals: keys } = parseArgs({
  options: {
    filters: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    suite: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const FILTERS = commonFilters(Number(options.filters), Number(options.seed));

const FATES = ['exact', 'superset', 'local', 'decided'] as const;
const PUSHDOWNS = ['full', 'partial', 'none'] as const;

/** What becomes of a predicate; `decided`: its field cannot hold what it asks for, or holds nothing else, so nobody is asked. */
type Fate = (typeof FATES)[number];

interface Counts {
  readonly predicates: Record<Fate, number>;
  readonly filters: Record<(typeof PUSHDOWNS)[number], number>;
}

interface Measured {
  readonly key: string;
  readonly lines: { readonly connector: number; readonly simulator: number; readonly tests: number };
  /** Over all objects. */
  readonly counts: Counts;
  readonly objects: Readonly<Record<string, Counts>>;
  readonly suite?: { readonly passes: number; readonly failures: number; readonly ms: number };
}

async function measure({ connector: { key }, connection }: Demo): Promise<Measured> {
  const objects: Record<string, Counts> = {};
  for (const [name, whole] of Object.entries(connection.objects)) {
    const object = asListed(whole);
    if (object.list === undefined || (object.requiredFilters ?? []).length > 0) continue;
    objects[name] = count(object, await connection.listAll(object));
  }
  const counts = sum(Object.values(objects));
  return { key, lines: countLines(key), counts, objects, ...(options.suite && { suite: await runSuite(key) }) };
}

function count(object: ObjectSpec, rows: readonly Row[]): Counts {
  const counts = sum([]);
  for (const filter of putOn(object, rows, FILTERS)) {
    const plan = planOf(filter, object);
    counts.filters[plan.pushdown]++;
    for (const decision of plan.decisions) counts.predicates[fateOf(decision, plan)]++;
  }
  return counts;
}

function planOf(filter: Filter, object: ObjectSpec): Plan {
  return prepareQuery({ where: printFilter(filter) }, object).plan;
}

function fateOf({ holds, pushed, exactness }: Decision, plan: Plan): Fate {
  if (holds !== undefined || plan.holds !== undefined) return 'decided';
  return pushed && exactness !== 'none' ? exactness : 'local';
}

function sum(all: readonly Counts[]): Counts {
  const total = (read: (counts: Counts) => number) => all.reduce((found, counts) => found + read(counts), 0);
  return {
    predicates: {
      exact: total(({ predicates }) => predicates.exact),
      superset: total(({ predicates }) => predicates.superset),
      local: total(({ predicates }) => predicates.local),
      decided: total(({ predicates }) => predicates.decided),
    },
    filters: {
      full: total(({ filters }) => filters.full),
      partial: total(({ filters }) => filters.partial),
      none: total(({ filters }) => filters.none),
    },
  };
}

function countLines(key: string): Measured['lines'] {
  const files = globSync('**/*.ts', { cwd: join(OWN_CONNECTORS, key) });
  const lines = { connector: 0, simulator: 0, tests: 0 };
  for (const file of files) {
    const kind = file.endsWith('.test.ts') ? 'tests' : /^simulator[./]/.test(file) ? 'simulator' : 'connector';
    lines[kind] += readFileSync(join(OWN_CONNECTORS, key, file), 'utf8').split('\n').length - 1;
  }
  return lines;
}

/** In a process of its own, with a database of its own, as `npm run test:all` runs it. */
async function runSuite(key: string): Promise<NonNullable<Measured['suite']>> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-suite-'));
  try {
    const output = join(folder, 'report.json');
    const root = join(OWN_CONNECTORS, '..');
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    const reporting = ['--reporter', 'json', '--reporter-option', `output=${output}`];
    const args = [mocha, '--no-config', '--require', join(root, 'test/support/server.ts'), ...reporting];
    const suite = join(OWN_CONNECTORS, key, 'suite.test.ts');
    const env = { ...process.env, NODE_ENV: 'test' };
    await once(spawn(process.execPath, [...args, suite], { cwd: root, env, stdio: 'ignore' }), 'exit');
    const { stats } = JSON.parse(await readFile(output, 'utf8'));
    return { passes: stats.passes, failures: stats.failures, ms: stats.duration };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const COLUMNS: readonly (readonly [string, (measured: Measured) => string])[] = [
  ['connector', ({ key }) => key],
  ['lines', ({ lines }) => String(lines.connector)],
  ['simulator', ({ lines }) => String(lines.simulator)],
  ['tests', ({ lines }) => String(lines.tests)],
  ['objects', ({ objects }) => String(Object.keys(objects).length)],
  ['predicates', ({ counts }) => String(totalOf(counts.predicates))],
  ...FATES.map((fate) => [fate, ({ counts }: Measured) => share(counts.predicates[fate], counts.predicates)] as const),
  ...PUSHDOWNS.map(
    (pushdown) =>
      [`filters ${pushdown}`, ({ counts }: Measured) => share(counts.filters[pushdown], counts.filters)] as const,
  ),
  ...(options.suite
    ? [
        ['suite s', ({ suite }: Measured) => ((suite?.ms ?? 0) / 1000).toFixed(1)] as const,
        [
          'passing',
          ({ suite }: Measured) => `${suite?.passes}/${(suite?.passes ?? 0) + (suite?.failures ?? 0)}`,
        ] as const,
      ]
    : []),
];

function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, each) => total + each, 0);
}

function share(part: number, counts: Readonly<Record<string, number>>): string {
  return `${((100 * part) / Math.max(totalOf(counts), 1)).toFixed(1)} %`;
}

function printTable(all: readonly Measured[]): void {
  const cells = [COLUMNS.map(([title]) => title), ...all.map((each) => COLUMNS.map(([, read]) => read(each)))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  for (const row of cells) console.log(row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}

const measured = (
  await forEachDemo(async (demo) =>
    keys.length === 0 || keys.includes(demo.connector.key) ? [await measure(demo)] : [],
  )
).flat();
if (options.json)
  console.log(JSON.stringify({ seed: Number(options.seed), filters: FILTERS.length, measured }, null, 2));
else printTable(measured);
