/**
 * Measures the rate limit that processes share: `node scripts/bench/rate-budgets.ts [--processes 4] [--seconds 30] [--calls 200] [--window 10]`.
 * Service processes with one database call one provider that accepts a number of calls in each window. Each runs bulk jobs as fast as the
 * provider allows, and serves callers. It prints the calls and the refusals with separate budgets, and with a shared one. Then it prints the
 * latency of a warm GET without a limit, one request after the other, by both. PostgreSQL, provider and services share the machine. Ends by
 * itself.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { createLogger } from '../../src/log.ts';
import { startLimitedProvider } from '../../test/support/limited-provider.ts';

const { values: given } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '30' },
    calls: { type: 'string', default: '200' },
    window: { type: 'string', default: '10' },
  },
});
const [processes, seconds, calls, windowSeconds] = [given.processes, given.seconds, given.calls, given.window].map(
  Number,
);
const log = createLogger({ level: 'error' });
const WARM_GETS = 3_000;
/** Calls of callers, as a part of the limit. */
const CALLERS_PART = 0.2;
const CHILD = join(import.meta.dirname, 'rate-budget-service.ts');
const PRELOADED = join(import.meta.dirname, '../../src/preload.cjs');
const SECRETS = 'User bench-user-secret-of-the-measurement, Organization bench-organization-secret-of-it';

interface Service {
  readonly child: ChildProcess;
  readonly baseUrl: string;
}

async function startService(databaseUrl: string, dataDir: string, isShared: boolean): Promise<Service> {
  const environment = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, IS_SHARED: String(isShared) };
  const child = fork(CHILD, { env: { ...process.env, ...environment }, execArgv: ['--require', PRELOADED] });
  const [{ baseUrl }] = await once(child, 'message');
  return { child, baseUrl };
}

async function stop({ child }: Service): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function send(url: string, authorization: string, body?: object): Promise<{ status: number; json: unknown }> {
  const headers = { authorization, 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: response.status, json: await response.json() };
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}

async function measure(isShared: boolean): Promise<Readonly<Record<string, number | string>>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
  const database = await startEmbeddedPostgres({ dataDir, log, durable: true });
  const provider = await startLimitedProvider({ calls: calls ?? 0, windowMs: (windowSeconds ?? 0) * 1000 });
  const services: Service[] = [];
  try {
    for (let one = 0; one < (processes ?? 0); one++) services.push(await startService(database.url, dataDir, isShared));
    const [first] = services;
    if (first === undefined) throw new Error('There must be a process');
    const configuration = { 'base.url': provider.url };
    const created = await send(`${first.baseUrl}/instances`, SECRETS, {
      element: { key: 'limited' },
      name: 'Bench',
      configuration,
    });
    if (created.status !== 200) throw new Error(JSON.stringify(created));
    const { token } = Object(created.json);
    const caller = `${SECRETS.split(',')[0]}, Element ${token}`;
    // More jobs than end in the time.
    for (let job = 0; job < 16; job++) {
      const { baseUrl } = services[job % services.length] ?? first;
      await send(`${baseUrl}/bulk/query`, caller, { objectName: 'rows' });
    }
    const outcomes: Promise<{ status: number; ms: number }>[] = [];
    const perSecond = ((calls ?? 0) * CALLERS_PART) / (windowSeconds ?? 1);
    const before = { ...provider.counts };
    const beganAt = performance.now();
    for (let call = 0; performance.now() - beganAt < (seconds ?? 0) * 1000; call++) {
      const { baseUrl } = services[call % services.length] ?? first;
      const sentAt = performance.now();
      const outcome = send(`${baseUrl}/rows/${call}`, caller);
      outcomes.push(outcome.then(({ status }) => ({ status, ms: performance.now() - sentAt })));
      await sleep(1000 / perSecond);
    }
    const ended = await Promise.all(outcomes);
    const elapsed = (performance.now() - beganAt) / 1000;
    const after = { ...provider.counts };
    const latencies = ended.map(({ ms }) => ms).sort((a, b) => a - b);
    return {
      budget: isShared ? 'shared' : 'separate',
      callsPerSecond: ((after.calls - after.refused - before.calls + before.refused) / elapsed).toFixed(1),
      refusals: after.refused - before.refused,
      callers: ended.length,
      failedCallers: ended.filter(({ status }) => status !== 200).length,
      callerP50Ms: quantile(latencies, 0.5).toFixed(0),
      callerP95Ms: quantile(latencies, 0.95).toFixed(0),
      callerMaxMs: (latencies.at(-1) ?? Number.NaN).toFixed(0),
    };
  } finally {
    await Promise.all(services.map(stop));
    await provider.close();
    await database.stop();
    await rm(dataDir, { recursive: true });
  }
}

/** Returns the milliseconds of a GET on a warm process that has no other. Its provider accepts far more calls than are sent. */
async function measureWarmGet(isShared: boolean): Promise<Readonly<Record<string, number | string>>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
  const database = await startEmbeddedPostgres({ dataDir, log, durable: true });
  const provider = await startLimitedProvider({ calls: 1_000_000, windowMs: 3_600_000, latencyMs: 0 });
  const service = await startService(database.url, dataDir, isShared);
  try {
    const configuration = { 'base.url': provider.url };
    const created = await send(`${service.baseUrl}/instances`, SECRETS, {
      element: { key: 'limited' },
      name: 'Bench',
      configuration,
    });
    if (created.status !== 200) throw new Error(JSON.stringify(created));
    const caller = `${SECRETS.split(',')[0]}, Element ${Object(created.json).token}`;
    const get = () => send(`${service.baseUrl}/rows/7`, caller);
    for (let call = 0; call < WARM_GETS; call++) await get();
    const times: number[] = [];
    for (let call = 0; call < WARM_GETS; call++) {
      const sentAt = performance.now();
      await get();
      times.push(performance.now() - sentAt);
    }
    times.sort((a, b) => a - b);
    return {
      budget: isShared ? 'shared' : 'separate',
      warmGetP50Ms: quantile(times, 0.5).toFixed(3),
      warmGetP95Ms: quantile(times, 0.95).toFixed(3),
    };
  } finally {
    await stop(service);
    await provider.close();
    await database.stop();
    await rm(dataDir, { recursive: true });
  }
}

console.log(`${cpus().length} CPUs, load ${loadavg()[0]?.toFixed(2)}; ${JSON.stringify(given)}`);
console.table([await measure(false), await measure(true)]);
console.table([
  await measureWarmGet(false),
  await measureWarmGet(true),
  await measureWarmGet(false),
  await measureWarmGet(true),
]);
process.exit(0);
