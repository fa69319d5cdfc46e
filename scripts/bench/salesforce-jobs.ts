/**
 * The simulated Salesforce by itself, as ceiling of what is measured against it: records by pages of the query endpoint, by a bulk query job,
 * by jsforce, and into it by an ingest job. `node scripts/bench/salesforce-jobs.ts [--rows 1000000] [--loaded 100000]`.
 * The simulator has a process of its own; everything stays on loopback and stops by itself.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import jsforce from 'jsforce';
import { createSimulator, DEMO_ACCESS_TOKEN } from '../../connectors/salesforce/simulator.ts';

const SIMULATE = 'simulate';
const FIELDS =
  'Id, IsDeleted, CreatedDate, LastModifiedDate, SystemModstamp, Name, Serial__c, City__c, Note__c, Kind__c, Account__c, Count__c, Level__c, Lowest__c, Highest__c, Cost__c, Share__c, IsEstimated__c, TakenOn__c, TakenAt__c';
const SOQL = `SELECT ${FIELDS} FROM Reading__c`;

if (process.argv[2] === SIMULATE) {
  const simulator = createSimulator({ baseUrl: '' });
  // Not below a folder: jsforce asks for jobs at the root of the host.
  const server = createServer((request, response) => simulator.handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.(`http://127.0.0.1:${Object(server.address()).port}`);
  process.once('disconnect', () => process.exit());
} else {
  await measure();
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '1000000' }, loaded: { type: 'string', default: '100000' } },
  });
  const rows = Number(values.rows);
  const child = fork(import.meta.filename, [SIMULATE], { stdio: 'inherit' });
  const [url] = await once(child, 'message');
  try {
    await command(url, 'readings', { count: rows });
    await command(url, 'jobs', { queuedMs: 0, workMs: 0 });
    const idleMb = memoryOf(child.pid);
    const table = {
      'pages of 2,000': await timed(rows, () => readPages(url, rows)),
      'bulk query': await timed(rows, () => readJob(url, rows)),
      'bulk query by jsforce': await timed(rows, () => readByJsforce(url, rows)),
    };
    const readMb = memoryOf(child.pid);
    const loaded = Number(values.loaded);
    Object.assign(table, { 'bulk insert': await timed(loaded, () => load(url, loaded)) });
    console.log({ cores: cpus().length, model: cpus()[0]?.model, load: loadavg()[0] });
    console.log({ 'MB of the simulator idle': idleMb, 'most while read': readMb, 'most in all': memoryOf(child.pid) });
    console.table(table);
  } finally {
    child.disconnect();
  }
}

async function timed(rows: number, work: () => Promise<void>): Promise<object> {
  const startMs = performance.now();
  await work();
  const seconds = (performance.now() - startMs) / 1000;
  return { rows, seconds: Math.round(seconds * 10) / 10, 'rows/s': Math.round(rows / seconds) };
}

function memoryOf(pid: number | undefined): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

async function command(url: string, name: string, body: object): Promise<void> {
  const response = await fetch(`${url}/simulate/${name}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

async function call(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}`, 'accept-encoding': 'identity', ...init.headers };
  const response = await fetch(url, { ...init, headers });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response;
}

async function readPages(url: string, rows: number): Promise<void> {
  let found = 0;
  let next: unknown = `/services/data/v62.0/query?q=${encodeURIComponent(`${SOQL} ORDER BY Id`)}`;
  while (typeof next === 'string') {
    const page = Object(await (await call(url + next)).json());
    found += page.records.length;
    next = page.nextRecordsUrl;
  }
  assertCount(found, rows);
}

async function readJob(url: string, rows: number): Promise<void> {
  const jobs = `${url}/services/data/v62.0/jobs/query`;
  const body = JSON.stringify({ operation: 'query', query: SOQL });
  const { id } = Object(await (await call(jobs, { method: 'POST', body })).json());
  await call(`${jobs}/${id}`);
  let found = 0;
  for (let locator = ''; locator !== 'null'; ) {
    const answer = await call(`${jobs}/${id}/results${locator && `?locator=${locator}`}`);
    for await (const _piece of answer.body ?? []);
    found += Number(answer.headers.get('sforce-numberofrecords'));
    locator = answer.headers.get('sforce-locator') ?? 'null';
  }
  assertCount(found, rows);
}

async function readByJsforce(url: string, rows: number): Promise<void> {
  // In one set: it mixes up the rows of several.
  await command(url, 'jobs', { queuedMs: 0, workMs: 0, setSize: rows });
  const session = { instanceUrl: url, accessToken: DEMO_ACCESS_TOKEN, version: '62.0' };
  const stream = await new jsforce.Connection(session).bulk2.query(SOQL, { pollInterval: 20, pollTimeout: 60_000 });
  let found = 0;
  for await (const _row of stream) found++;
  assertCount(found, rows);
}

async function load(url: string, rows: number): Promise<void> {
  const jobs = `${url}/services/data/v62.0/jobs/ingest`;
  const terms = JSON.stringify({ operation: 'insert', object: 'Reading__c' });
  const { id } = Object(await (await call(jobs, { method: 'POST', body: terms })).json());
  const lines = Array.from({ length: rows }, (_, index) => `New ${index},N-${index},Oslo,${index},0.5,2024-02-29`);
  const body = `Name,Serial__c,City__c,Count__c,Level__c,TakenOn__c\n${lines.join('\n')}\n`;
  await call(`${jobs}/${id}/batches`, { method: 'PUT', body, headers: { 'content-type': 'text/csv' } });
  await call(`${jobs}/${id}`, { method: 'PATCH', body: '{"state":"UploadComplete"}' });
  const { numberRecordsProcessed, numberRecordsFailed } = Object(await (await call(`${jobs}/${id}`)).json());
  assertCount(numberRecordsProcessed - numberRecordsFailed, rows);
}

function assertCount(found: number, expected: number): void {
  if (found !== expected) throw new Error(`There were ${found} rows, not ${expected}.`);
}
