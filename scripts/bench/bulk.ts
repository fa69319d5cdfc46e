/**
 * Bulk downloads: rows of 20 fields of a local provider into a file, and out again. `npm run bench:bulk [-- --rows 1000000] [--json]
 * [--profile FOLDER]`; the last writes a CPU profile of the service. Of two sizes, so that it shows whether memory grows with the file.
 * PostgreSQL is durable; the provider, PostgreSQL, the service and this caller share the machine. Everything stays on loopback and stops by itself.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { cpuMsOf, startService, UNLIMITED } from './running-service.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const CALLS_PER_SECOND = 20;
const ALONE_SECONDS = 10;
const IDLE_MS = 3_000;
const LOOK_MS = 50;

const database = await startLoadDatabase();
await database.knex('account').del();
await database.knex('organization').del();
const folder = resolve(import.meta.dirname, '../bulk-load');
const provider = fork(join(folder, 'provider.ts'), { stdio: 'inherit' });
const [providerPort] = await once(provider, 'message');
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const service = await startService({
  dataDir,
  environment: {
    ...UNLIMITED,
    HOST: '127.0.0.1',
    EGRESS_ALLOW: '127.0.0.0/8',
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    CONNECTORS_PATH: join(folder, 'connectors'),
  },
  execArgv: options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`],
  stdio: 'inherit',
});

async function call(path: string, init: RequestInit = {}, authorization = service.authorization): Promise<Response> {
  const headers = { authorization, 'content-type': 'application/json', ...init.headers };
  const response = await fetch(service.baseUrl + path, { ...init, headers });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response;
}

async function createInstance(rows: number): Promise<string> {
  const configuration = { 'base.url': `http://127.0.0.1:${providerPort}`, rows: String(rows) };
  const body = JSON.stringify({ element: { key: 'wide' }, name: 'Wide', configuration });
  const created = await (await call('/instances', { method: 'POST', body })).json();
  return `User ${service.secrets.userSecret}, Element ${Object(created).token}`;
}

function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** From now on `VmHWM` is the most (proc(5)). */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Ordinary lists, at a steady pace, until it is told to end. @returns milliseconds of each */
function watchCalls(authorization: string): () => Promise<readonly number[]> {
  const ended = new AbortController();
  const times: number[] = [];
  const open = new Set<Promise<void>>();
  const one = async () => {
    const startMs = performance.now();
    await (await call('/rows?pageSize=100', {}, authorization)).arrayBuffer();
    times.push(performance.now() - startMs);
  };
  const timer = setInterval(() => {
    const work = one().finally(() => open.delete(work));
    open.add(work);
  }, 1000 / CALLS_PER_SECOND);
  return async () => {
    clearInterval(timer);
    ended.abort();
    await Promise.all(open);
    return times.sort((a, b) => a - b);
  };
}

const at = (share: number, sorted: readonly number[]) =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;

interface Job {
  readonly id: number;
  readonly authorization: string;
  readonly seconds: number;
  readonly fileSize: number;
}

async function runJob(rows: number, format: 'csv' | 'jsonl'): Promise<Job> {
  const authorization = await createInstance(rows);
  const startMs = performance.now();
  const body = JSON.stringify({ objectName: 'rows', format });
  const { id } = Object(await (await call('/bulk/query', { method: 'POST', body }, authorization)).json());
  for (;;) {
    const status = Object(await (await call(`/bulk/${id}/status`, {}, authorization)).json());
    if (status.status === 'COMPLETED') {
      if (status.recordsCount !== rows) throw new Error(`There are ${status.recordsCount} rows`);
      return { id, authorization, seconds: (performance.now() - startMs) / 1000, fileSize: status.fileSize };
    }
    if (status.status === 'FAILED') throw new Error(status.message);
    await sleep(LOOK_MS);
  }
}

async function storedBytes(id: number): Promise<number> {
  const { rows } = await database.knex.raw(
    'select sum(octet_length(data))::float8 as bytes from bulk_chunk where job_id = ?',
    [id],
  );
  return rows[0].bytes;
}

async function download({ id, authorization }: Job, accept: string, encoding: string): Promise<number> {
  const startMs = performance.now();
  const headers = { accept, 'accept-encoding': encoding };
  const response = await call(`/bulk/${id}/rows`, { headers }, authorization);
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  return bytes / 1024 / 1024 / ((performance.now() - startMs) / 1000);
}

const table: Record<string, object> = {};
try {
  await runJob(20_000, 'csv');
  const watched = await createInstance(10_000);
  const endAlone = watchCalls(watched);
  await sleep(ALONE_SECONDS * 1000);
  const alone = await endAlone();
  const most = Number(options.rows);
  for (const [rows, format] of [
    [most / 10, 'csv'],
    [most, 'csv'],
    [most, 'jsonl'],
  ] as const) {
    await sleep(IDLE_MS);
    const idleMb = memoryOf(service.pid, 'VmRSS');
    forgetPeak(service.pid);
    const cpuMs = cpuMsOf([service.pid]);
    const job = await runJob(rows, format);
    const aboveMb = memoryOf(service.pid, 'VmHWM') - idleMb;
    const cpuSeconds = (cpuMsOf([service.pid]) - cpuMs) / 1000;
    table[`${rows} rows as ${format}`] = {
      'rows/s': Math.round(rows / job.seconds),
      seconds: Math.round(job.seconds * 10) / 10,
      'CPU s of the service': Math.round(cpuSeconds * 10) / 10,
      'MB above idle': Math.round(aboveMb),
      'bytes/row': Math.round(job.fileSize / rows),
      'stored bytes/row': Math.round((await storedBytes(job.id)) / rows),
      'stored form MB/s': Math.round(
        await download(job, format === 'csv' ? 'text/csv' : 'application/x-ndjson', 'identity'),
      ),
      'packed MB/s': Math.round(await download(job, format === 'csv' ? 'text/csv' : 'application/x-ndjson', 'gzip')),
      'as JSON MB/s': Math.round(await download(job, 'application/json', 'identity')),
    };
  }
  const endBeside = watchCalls(watched);
  await runJob(most, 'csv');
  const beside = await endBeside();
  const calls = Object.fromEntries(
    Object.entries({ alone, 'beside a job': beside }).map(([name, times]) => [
      name,
      { calls: times.length, 'p50 ms': at(0.5, times), 'p99 ms': at(0.99, times) },
    ]),
  );
  const conditions = { cores: cpus().length, model: cpus()[0]?.model, load: loadavg()[0] };
  if (options.json) console.log(JSON.stringify({ conditions, jobs: table, calls }));
  else {
    console.log(conditions);
    console.table(table);
    console.table(calls);
  }
} finally {
  await service.stop();
  provider.disconnect();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}
