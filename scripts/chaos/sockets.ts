/**
 * Holds a thousand connections that send nothing, half of something, or never read, against the service for some minutes:
 * `node scripts/chaos/sockets.ts [--minutes 5] [--sockets 1000]`. Those that the service ends are opened again. Checks that
 * its descriptors return to where they were although no caller closes, and that SIGTERM ends it within two seconds.
 * Everything stays on loopback and stops by itself; the exit code is 1 when a promise was broken.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { holdSockets, KINDS } from './held-sockets.ts';

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, sockets: { type: 'string', default: '1000' } },
});
const count = Number(options.sockets);

const ROOT = resolve(import.meta.dirname, '../..');
const SAMPLE_MS = 10_000;
/** Longer than the longest time-out of a connection: keep-alive, and a second for the check. */
const RETURN_MS = 90_000;
/** Connections to PostgreSQL come and go. */
const SPARE_DESCRIPTORS = 12;
const STOP_MS = 2_000;

interface Service {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly authorization: string;
}

async function start(dataDir: string): Promise<Service> {
  const environment = { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir, PORT: '0', SIMULATORS_PORT: 'off' };
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: ROOT,
    env: { ...environment, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Not SIGKILL: its PostgreSQL would stay.
  process.once('exit', () => child.kill('SIGTERM'));
  const url = await readUrl(child);
  const { userSecret, organizationSecret } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'));
  const authorization = `User ${userSecret}, Organization ${organizationSecret}`;
  return { child, pid: Number(child.pid), url, authorization };
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of stdout ?? []) {
    printed += String(chunk);
    const [, url] = /Causeway is ready at (\S+)\/elements/.exec(printed) ?? [];
    if (url === undefined) continue;
    // What it prints later is read too: a full pipe would stop it.
    stdout?.resume();
    return url;
  }
  throw new Error(`The service ended before it was ready: ${printed}`);
}

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** How long a well-behaved caller waits, on a connection of its own. */
async function ask({ url, authorization }: Service): Promise<number> {
  const startedAt = performance.now();
  const sent = request(`${url}/elements/api-v2/elements`, { agent: false, headers: { authorization } }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`A well-behaved caller got ${response.statusCode}`);
  return performance.now() - startedAt;
}

async function untilDescriptors(pid: number, most: number): Promise<{ readonly found: number; readonly ms: number }> {
  const startedAt = performance.now();
  for (;;) {
    const found = descriptorsOf(pid);
    const ms = performance.now() - startedAt;
    if (found <= most || ms > RETURN_MS) return { found, ms };
    await sleep(250);
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-sockets-'));
await chmod(dataDir, 0o711);
const service = await start(dataDir);
await Promise.all(Array.from({ length: 20 }, () => ask(service)));
await sleep(1_000);
const before = descriptorsOf(service.pid);

const attack = holdSockets(service, count);
const waits: number[] = [];
let most = 0;
const endsAt = performance.now() + Number(options.minutes) * 60_000;
while (performance.now() < endsAt) {
  await sleep(Math.min(SAMPLE_MS, Math.max(0, endsAt - performance.now())));
  most = Math.max(most, descriptorsOf(service.pid));
  waits.push(await ask(service));
}
attack.stopReopening();
const returned = await untilDescriptors(service.pid, before + SPARE_DESCRIPTORS);
const report = attack.report();
attack.close();

const last = holdSockets(service, count);
await sleep(2_000);
const heldAtStop = descriptorsOf(service.pid) - before;
const stoppedAt = performance.now();
const exited = once(service.child, 'exit');
service.child.kill('SIGTERM');
const [code] = await exited;
const stopMs = performance.now() - stoppedAt;
last.close();
await rm(dataDir, { recursive: true, force: true });

console.table(Object.fromEntries(KINDS.map((kind) => [kind, report[kind]])));
const promises = [
  {
    promise: `descriptors return to ${before} (${SPARE_DESCRIPTORS} spare) though nobody closes`,
    found: `${most} at most, ${returned.found} after ${(returned.ms / 1000).toFixed(1)} s`,
    kept: returned.found <= before + SPARE_DESCRIPTORS,
  },
  {
    promise: `SIGTERM ends it within ${STOP_MS / 1000} s`,
    found: `${(stopMs / 1000).toFixed(2)} s with ${heldAtStop} connections, exit code ${code}`,
    kept: stopMs <= STOP_MS && code === 0,
  },
  {
    promise: 'a well-behaved caller is answered meanwhile',
    found: `${waits.length} times, ${Math.max(...waits).toFixed(0)} ms at most`,
    kept: waits.length > 0,
  },
];
console.table(promises);
process.exitCode = promises.every(({ kept }) => kept) ? 0 : 1;
