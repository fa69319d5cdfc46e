/**
 * Compares what the service costs at two commits. `node scripts/bench/compare.ts <commit> [<other>] [--rounds 3] [--seconds 5] [--json]`:
 * checks both out into temporary worktrees, runs the service bench of each in turn, and prints the medians. `<other>` is HEAD by default.
 * Compare the CPU per request: on a busy machine it changes less than the rest.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { quantile } from './measure.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The part of the result of `service.ts` that is compared. Older commits may lack some of it. */
interface BenchResult {
  readonly coldStartSeconds?: number;
  readonly idleMemoryMb?: number;
  readonly connections32?: {
    readonly through?: { readonly cpuMsPerRequest?: number; readonly requestsPerSecond?: number };
    readonly shareOfBareProxy?: number;
  };
}

const MEASURES: Readonly<Record<string, (result: BenchResult) => number | undefined>> = {
  'CPU per request (ms)': ({ connections32 }) => connections32?.through?.cpuMsPerRequest,
  'requests/s': ({ connections32 }) => connections32?.through?.requestsPerSecond,
  'share of the bare proxy': ({ connections32 }) => connections32?.shareOfBareProxy,
  'cold start (s)': ({ coldStartSeconds }) => coldStartSeconds,
  'idle memory (MB)': ({ idleMemoryMb }) => idleMemoryMb,
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const [first, other = 'HEAD'] = positionals;
if (first === undefined) throw new Error('Usage: npm run bench:compare -- <commit> [<other>] [--rounds 3] [--json]');

const folder = mkdtempSync(join(tmpdir(), 'causeway-compare-'));
let running: ChildProcess | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}

try {
  const sides = [checkOut(first, 'first'), checkOut(other, 'other')];
  for (let round = 0; round < Number(options.rounds); round++) {
    // Each commit is measured first in every second round, because the machine warms up and other load on it changes.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) side.results.push(await bench(side.root));
  }
  const rows = Object.entries(MEASURES).map(([measure, read]) => {
    const [before, after] = sides.map(({ results }) => medianOf(results.flatMap((result) => read(result) ?? [])));
    return { measure, before, after, change: before && after && after / before - 1 };
  });
  const commits = sides.map(({ commit }) => commit);
  if (options.json) console.log(JSON.stringify({ commits, rounds: Number(options.rounds), rows }));
  else {
    console.log(`${commits.join(' → ')}, medians of ${options.rounds} rounds`);
    console.table(Object.fromEntries(rows.map(({ measure, ...figures }) => [measure, show(figures)])));
  }
} finally {
  cleanUp();
}

function checkOut(revision: string, name: string) {
  const root = join(folder, name);
  const commit = git('rev-parse', '--short', revision).trim();
  git('worktree', 'add', '--quiet', '--detach', root, commit);
  const lockOf = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (lockOf(root) === lockOf(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  else execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: root, stdio: 'ignore' });
  const results: BenchResult[] = [];
  return { root, commit, results };
}

/** Runs the bench in a process group of its own, so that an interrupted run leaves neither a service nor its database. */
async function bench(root: string): Promise<BenchResult> {
  const program = ['scripts/bench/service.ts', '--json', '--seconds', options.seconds];
  const child = spawn(process.execPath, program, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  running = child;
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  running = undefined;
  if (code !== 0) throw new Error(`The bench in ${root} ended with exit code ${code}`);
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '');
}

function cleanUp(): void {
  if (running?.pid !== undefined) process.kill(-running.pid, 'SIGTERM');
  rmSync(folder, { recursive: true, force: true });
  git('worktree', 'prune');
}

function git(...given: readonly string[]): string {
  return execFileSync('git', given, { cwd: ROOT, encoding: 'utf8' });
}

/** Returns undefined for a measure that the commit does not have. */
function medianOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : quantile(values, 0.5);
}

function show({ before, after, change }: Readonly<Record<'before' | 'after' | 'change', number | undefined>>) {
  const short = (figure: number | undefined) => (figure === undefined ? '–' : Number(figure.toPrecision(3)));
  return { before: short(before), after: short(after), change: change && `${(change * 100).toFixed(1)} %` };
}
