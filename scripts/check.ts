/**
 * `npm run check`: checks the types of the service and of the console, generated files, format, lint and prose, all at the same time. Each
 * check prints its findings when it ends.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Each further checker would check again what the others share, and the other parts need the cores as well. */
const TSC = ['node_modules/typescript-7/bin/tsc', '--noEmit', '--checkers', '1'];
/**
 * The compiler is a Go program. It collects garbage a quarter as often as it would, and needs 200 MB more for a third less CPU time. The
 * other checks are kept compiled, as the service is (src/preload.cjs).
 */
const ENVIRONMENT = {
  ...process.env,
  GOGC: '400',
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
};

const PARTS: readonly (readonly string[])[] = [
  TSC,
  [...TSC, '-p', 'console'],
  ['scripts/generate.ts', '--check'],
  ['scripts/check-style.ts'],
  ['scripts/check-prose.ts'],
];

async function run(part: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, part, { cwd: ROOT, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // The code is null if a signal has ended the process.
  child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  const code = await promise;
  process.stdout.write(Buffer.concat(output));
  if (code !== 0) console.error(`failed: ${part.join(' ')}`);
  return code;
}

const codes = await Promise.all(PARTS.map(run));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
