/**
 * Bulk jobs, in parts (`--only jobs,uploads,callers,jsforce`): `npm run bench:bulk [-- --rows 1000000] [--rounds 3] [--json] [--profile FOLDER]`;
 * the last writes a CPU profile of the service. PostgreSQL is durable; the provider, PostgreSQL, the service and this caller share the
 * machine. Everything stays on loopback and stops by itself.
 *
 * jobs: rows of 20 fields of a local provider into a file, and out again. Of two sizes, so that it shows whether memory grows with the file.
 * uploads: such a file back to the provider, created and updated row by row, as providers take them. The provider counts what it was sent.
 * callers: lists by themselves and beside a job, in turns, so that whatever else goes on in the machine is in both.
 * jsforce: the same records of the simulated Salesforce by a job, and by the two ways of `jsforce` with the rows thrown away.
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
import jsforce from 'jsforce';
import { CLIENTS, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from '../../connectors/salesforce/simulator.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { cpuMsOf, startService, UNLIMITED } from './running-service.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'jobs,uploads,callers,jsforce' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const CALLS_PER_SECOND = 20;
const ALONE_SECONDS = 10;
const IDLE_MS = 3_000;
const LOOK_MS = 50;
/** One whose provider is away would go on for hours. */
const LONGEST_JOB_MS = 20 * 60_000;
const READINGS =
  'Id,IsDeleted,CreatedDate,LastModifiedDate,SystemModstamp,Name,Serial__c,City__c,Note__c,Kind__c,Account__c,Count__c,Level__c,Lowest__c,Highest__c,Cost__c,Share__c,IsEstimated__c,TakenOn__c,TakenAt__c';

const most = Number(options.rows);
const rounds = Number(options.rounds);

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

async function createInstance(key: string, configuration: object): Promise<string> {
  const body = JSON.stringify({ element: { key }, name: key, configuration });
  const created = await (await call('/instances', { method: 'POST', body })).json();
  return `User ${service.secrets.userSecret}, Element ${Object(created).token}`;
}

/** Of the local provider, with so many rows. */
function createWide(rows: number): Promise<string> {
  return createInstance('wide', { 'base.url': `http://127.0.0.1:${providerPort}`, rows: String(rows) });
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

interface Wanted {
  readonly authorization: string;
  readonly rows: number;
  /** The body of the request for the job. */
  readonly body: object;
}

async function runJob({ authorization, rows, body }: Wanted): Promise<Job> {
  const startMs = performance.now();
  const sent = { method: 'POST', body: JSON.stringify(body) };
  const { id } = Object(await (await call('/bulk/query', sent, authorization)).json());
  const fileSize = await untilEnded({ authorization, rows, id });
  return { id, authorization, seconds: (performance.now() - startMs) / 1000, fileSize };
}

/** @returns bytes of its file. @throws unless each of so many rows went well, in time */
async function untilEnded({ authorization, rows, id }: Omit<Wanted, 'body'> & Pick<Job, 'id'>): Promise<number> {
  const lastMs = performance.now() + LONGEST_JOB_MS;
  for (;;) {
    const status = Object(await (await call(`/bulk/${id}/status`, {}, authorization)).json());
    const { recordsCount, recordsFailedCount, fileSize, message } = status;
    if (status.status === 'COMPLETED') {
      if (recordsCount === rows && !recordsFailedCount) return fileSize;
      throw new Error(`There are ${recordsCount} rows, not ${rows}; ${recordsFailedCount} failed`);
    }
    if (status.status === 'FAILED') throw new Error(message);
    if (performance.now() > lastMs) throw new Error(`Job ${id} has not ended: it is ${status.status}`);
    await sleep(LOOK_MS);
  }
}

async function runWide(rows: number, format: 'csv' | 'jsonl'): Promise<Job> {
  return runJob({ authorization: await createWide(rows), rows, body: { objectName: 'rows', format } });
}

async function storedBytes(id: number, file: 'input' | 'result'): Promise<number> {
  const { rows } = await database.knex.raw(
    'select sum(octet_length(data))::float8 as bytes from bulk_chunk where job_id = ? and file = ?',
    [id, file],
  );
  return rows[0].bytes;
}

/** What it takes of the service, which is left alone before. */
async function costOf<Result>(work: () => Promise<Result>) {
  await sleep(IDLE_MS);
  const idleMb = memoryOf(service.pid, 'VmRSS');
  forgetPeak(service.pid);
  const cpuMs = cpuMsOf([service.pid]);
  const result = await work();
  const cost = {
    'CPU s of the service': rounded((cpuMsOf([service.pid]) - cpuMs) / 1000, 1),
    'idle MB': rounded(idleMb),
    'MB above idle': rounded(memoryOf(service.pid, 'VmHWM') - idleMb),
  };
  return { result, cost };
}

async function download({ id, authorization }: Job, accept: string, encoding: string): Promise<number> {
  const startMs = performance.now();
  const headers = { accept, 'accept-encoding': encoding };
  const response = await call(`/bulk/${id}/rows`, { headers }, authorization);
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  return bytes / 1024 / 1024 / ((performance.now() - startMs) / 1000);
}

type Table = Record<string, object>;

const rounded = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits;

async function measureJobs(): Promise<Table> {
  const table: Table = {};
  for (const [rows, format] of [
    [most / 10, 'csv'],
    [most, 'csv'],
    [most, 'jsonl'],
  ] as const) {
    const { result: job, cost } = await costOf(() => runWide(rows, format));
    const stored = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    table[`${rows} rows as ${format}`] = {
      'rows/s': rounded(rows / job.seconds),
      seconds: rounded(job.seconds, 1),
      ...cost,
      'bytes/row': rounded(job.fileSize / rows),
      'stored bytes/row': rounded((await storedBytes(job.id, 'result')) / rows),
      'stored form MB/s': rounded(await download(job, stored, 'identity')),
      'packed MB/s': rounded(await download(job, stored, 'gzip')),
      'as JSON MB/s': rounded(await download(job, 'application/json', 'identity')),
    };
  }
  return table;
}

/** Of the provider, since it began. */
async function sentRows(): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${providerPort}/written`)).text());
}

async function sendFile(file: Blob, { rows, action }: { readonly rows: number; readonly action: string }) {
  const authorization = await createWide(rows);
  const form = new FormData();
  form.append('metaData', JSON.stringify({ format: 'csv', action }));
  form.append('file', file, 'rows.csv');
  const before = await sentRows();
  const startMs = performance.now();
  const sent = await fetch(`${service.baseUrl}/bulk/rows`, { method: 'POST', headers: { authorization }, body: form });
  if (!sent.ok) throw new Error(`The upload was answered ${sent.status}: ${await sent.text()}`);
  const receivedMs = performance.now();
  const { id } = Object(await sent.json());
  await untilEnded({ authorization, rows, id });
  const endMs = performance.now();
  const written = (await sentRows()) - before;
  if (written !== rows) throw new Error(`The provider was sent ${written} rows, not ${rows}`);
  return { id, receivedSeconds: (receivedMs - startMs) / 1000, seconds: (endMs - startMs) / 1000 };
}

async function measureUploads(): Promise<Table> {
  const table: Table = {};
  for (const [action, rows] of [
    ['create', most / 50],
    ['create', most / 5],
    ['update', most / 10],
  ] as const) {
    const { id: source, authorization } = await runWide(rows, 'csv');
    const file = await (await call(`/bulk/${source}/rows`, {}, authorization)).blob();
    const { result, cost } = await costOf(() => sendFile(file, { rows, action }));
    const { id, receivedSeconds, seconds } = result;
    table[`${action} ${rows} rows`] = {
      'rows/s': rounded(rows / seconds),
      seconds: rounded(seconds, 1),
      'taken in, MB/s': rounded(file.size / 1024 / 1024 / receivedSeconds),
      ...cost,
      'bytes/row': rounded(file.size / rows),
      'stored bytes/row': rounded((await storedBytes(id, 'input')) / rows),
      'of outcomes': rounded((await storedBytes(id, 'result')) / rows),
      load: rounded(loadavg()[0] ?? 0, 1),
    };
  }
  return table;
}

async function measureCallers(): Promise<Table> {
  const watched = await createWide(10_000);
  const table: Table = {};
  const all: Record<'alone' | 'beside a job', number[]> = { alone: [], 'beside a job': [] };
  for (let round = 1; round <= rounds; round++) {
    const endAlone = watchCalls(watched);
    await sleep(ALONE_SECONDS * 1000);
    const alone = await endAlone();
    const endBeside = watchCalls(watched);
    const { seconds } = await runWide(most, 'csv');
    const beside = await endBeside();
    all.alone.push(...alone);
    all['beside a job'].push(...beside);
    const ratio = rounded(at(0.99, beside) / at(0.99, alone), 2);
    table[`round ${round}`] = {
      'alone p99 ms': at(0.99, alone),
      'p99 ms': at(0.99, beside),
      ratio,
      'rows/s': rounded(most / seconds),
      load: rounded(loadavg()[0] ?? 0, 1),
    };
  }
  for (const [name, times] of Object.entries(all)) {
    times.sort((a, b) => a - b);
    table[name] = { calls: times.length, 'p50 ms': at(0.5, times), 'p99 ms': at(0.99, times) };
  }
  return table;
}

async function timed(rows: number, pid: number, read: () => Promise<number>): Promise<object> {
  const startMs = performance.now();
  const cpuMs = cpuMsOf([pid]);
  const found = await read();
  if (found !== rows) throw new Error(`There are ${found} rows, not ${rows}`);
  const seconds = (performance.now() - startMs) / 1000;
  const cpuSeconds = (cpuMsOf([pid]) - cpuMs) / 1000;
  return { 'rows/s': rounded(rows / seconds), seconds: rounded(seconds, 1), 'CPU s': rounded(cpuSeconds, 1) };
}

/** The simulators are a thread of the service: its CPU time is theirs too. */
async function measureJsforce(): Promise<Table> {
  const rows = most / 5;
  const url = `${service.simulatorsUrl}/salesforce`;
  const simulate = (name: string, body: object) =>
    fetch(`${url}/simulate/${name}`, { method: 'POST', body: JSON.stringify(body) });
  await simulate('readings', { count: rows });
  const [key, client] = Object.entries(CLIENTS)[0] ?? [];
  const authorization = await createInstance('salesforce', {
    ...DEMO_CONFIGURATION,
    'oauth.api.key': key,
    'oauth.api.secret': client?.secret,
    'oauth.user.token': DEMO_ACCESS_TOKEN,
    simulator: true,
  });
  const soql = `SELECT ${READINGS} FROM Reading__c`;
  const atRoot = fork(join(folder, 'at-root.ts'), [url], { stdio: 'inherit' });
  const [port] = await once(atRoot, 'message');
  const instanceUrl = `http://127.0.0.1:${port}`;
  const connect = () => new jsforce.Connection({ instanceUrl, accessToken: DEMO_ACCESS_TOKEN, version: '62.0' });
  const body = { objectName: 'Reading__c', fields: READINGS, format: 'csv' };
  try {
    return {
      'a job': await timed(rows, service.pid, async () => {
        await runJob({ authorization, rows, body });
        return rows;
      }),
      'jsforce query, autoFetch': await timed(rows, process.pid, async () => {
        let found = 0;
        const query = connect().query(`${soql} ORDER BY Id`, { autoFetch: true, maxFetch: rows });
        query.on('record', () => found++);
        await query.execute();
        return found;
      }),
      'jsforce bulk2 query': await timed(rows, process.pid, async () => {
        // In one set: it mixes up the rows of several.
        await simulate('jobs', { queuedMs: 0, workMs: 0, setSize: rows });
        let found = 0;
        for await (const _row of await connect().bulk2.query(soql, { pollInterval: 20, pollTimeout: 60_000 })) found++;
        return found;
      }),
    };
  } finally {
    atRoot.disconnect();
  }
}

const MEASUREMENTS: Readonly<Record<string, () => Promise<Table>>> = {
  jobs: measureJobs,
  uploads: measureUploads,
  callers: measureCallers,
  jsforce: measureJsforce,
};

try {
  await runWide(20_000, 'csv');
  const results: Record<string, Table> = {};
  for (const name of options.only.split(',')) {
    const measure = MEASUREMENTS[name];
    if (measure === undefined) throw new Error(`--only takes ${Object.keys(MEASUREMENTS).join(', ')}, not '${name}'`);
    results[name] = await measure();
    if (!options.json) console.table(results[name]);
  }
  const conditions = { cores: cpus().length, model: cpus()[0]?.model, load: loadavg()[0] };
  console.log(options.json ? JSON.stringify({ conditions, ...results }) : conditions);
} finally {
  await service.stop();
  provider.disconnect();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}
