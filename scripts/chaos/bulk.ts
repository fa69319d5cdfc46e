/**
 * Kills what works on bulk downloads, and compares their files with the rows: `npm run chaos:bulk [-- --quick] [--seed N]`. Two processes of the
 * service share a database; again and again one of them gets SIGKILL at a random moment, or PostgreSQL crashes, and the other takes its jobs over when
 * their leases end. Everything runs on loopback and ends by itself. Exit code 1: a promise was broken.
 */
import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { type RunningService, startService, UNLIMITED } from '../bench/running-service.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import type { Promised } from './scenario.ts';

const SIZES = {
  full: { rows: 300_000, jobs: 6, kills: 10, crashes: 2, mostSecondsBetween: 4, limitMs: 600_000 },
  quick: { rows: 150_000, jobs: 2, kills: 2, crashes: 0, mostSecondsBetween: 1, limitMs: 180_000 },
};
const LOOK_MS = 250;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const seed = Number(options.seed);
const { rows, jobs, kills, crashes, mostSecondsBetween, limitMs } = options.quick ? SIZES.quick : SIZES.full;
const limit = setTimeout(() => {
  console.error(`Not done within ${limitMs / 1000} s`);
  process.exit(1);
}, limitMs);

const database = await startLoadDatabase();
await database.knex('account').del();
await database.knex('organization').del();
const folder = resolve(import.meta.dirname, '../bulk-load');
const provider = fork(join(folder, 'provider.ts'), { stdio: 'inherit' });
const [providerPort] = await once(provider, 'message');
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-chaos-'));
const encryptionKeys = `chaos:${randomBytes(32).toString('base64')}`;
const services: RunningService[] = [];
// Each process of the service is ended with this one.
process.setMaxListeners(100);
let authorization = '';

function startOne(): Promise<RunningService> {
  return startService({
    dataDir,
    environment: {
      ...UNLIMITED,
      HOST: '127.0.0.1',
      EGRESS_ALLOW: '127.0.0.0/8',
      DATABASE_URL: database.url,
      ENCRYPTION_KEYS: encryptionKeys,
      CONNECTORS_PATH: join(folder, 'connectors'),
    },
  });
}

/** The same numbers for the same seed. */
function random(index: number): number {
  return createHash('sha256').update(`${seed} ${index}`).digest().readUInt32BE() / 2 ** 32;
}

/** Of whichever process lives; it may die meanwhile. */
async function call(path: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const service = services[attempt % services.length];
    try {
      const headers = { authorization, 'content-type': 'application/json', ...init.headers };
      const response = await fetch(service?.baseUrl + path, { ...init, headers });
      if (response.status < 500) return response;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    await sleep(LOOK_MS);
  }
}

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await call(path, { method: 'POST', body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return Object(answer);
}

/** Ids of the rows of a file, in its order, read by another parser. */
async function idsIn(id: unknown, format: string): Promise<readonly number[]> {
  const response = await call(`/bulk/${id}/rows`, { headers: { accept: format } });
  if (!response.ok || response.body === null) throw new Error(`The file answered ${response.status}`);
  const text = await response.text();
  if (format === 'text/csv') return parse<{ readonly id: string }>(text, { columns: true }).map(({ id }) => Number(id));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
}

try {
  // The first one writes the secrets; the other reads them.
  services.push(await startOne());
  services.push(await startOne());
  const [first] = services;
  authorization = first?.authorization ?? '';
  const configuration = { 'base.url': `http://127.0.0.1:${providerPort}`, rows: String(rows) };
  const instance = await post('/instances', { element: { key: 'wide' }, name: 'Wide', configuration });
  authorization = `User ${first?.secrets.userSecret}, Element ${instance.token}`;

  const started = await Promise.all(
    Array.from({ length: jobs }, (_, index) =>
      post('/bulk/query', { objectName: 'rows', format: index % 2 === 0 ? 'csv' : 'jsonl' }),
    ),
  );
  const startMs = performance.now();
  let killedUnderWay = 0;
  const crashAfter = Math.ceil(kills / (crashes + 1));
  let crashed = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(random(kill) * mostSecondsBetween * 1000);
    const { rows: held } = await database.knex.raw(
      'select count(*)::int as count from bulk_job where lease_until > now()',
    );
    const victim = kill % services.length;
    const { child } = services[victim] ?? {};
    const gone = child && once(child, 'exit');
    child?.kill('SIGKILL');
    await gone;
    if (held[0].count > 0) killedUnderWay++;
    if (crashed < crashes && kill % crashAfter === 0) {
      crashed++;
      await database.crash();
    }
    services[victim] = await startOne();
  }

  const ends: Readonly<Record<string, unknown>>[] = [];
  for (const { id } of started) {
    let status: Readonly<Record<string, unknown>>;
    do {
      await sleep(LOOK_MS);
      status = Object(await (await call(`/bulk/${id}/status`)).json());
    } while (status.bulkFinishTime === undefined);
    ends.push(status);
  }
  const seconds = (performance.now() - startMs) / 1000;

  let wrong = 0;
  for (const { id, fileFormat } of ends) {
    const ids = await idsIn(id, fileFormat === 'csv' ? 'text/csv' : 'application/x-ndjson');
    const missing = rows - new Set(ids).size;
    if (ids.length === rows && missing === 0) continue;
    wrong++;
    console.error(`Job ${id}: ${ids.length} rows, ${missing} missing`);
  }
  const calls = ends.reduce((sum, { progress }) => sum + Number(Object(progress).providerCalls), 0);
  const results: readonly Promised[] = [
    {
      promise: `${kills} SIGKILLs and ${crashes} crashes of PostgreSQL: every job is completed`,
      found: `${ends.filter(({ status }) => status === 'COMPLETED').length} of ${jobs}`,
      kept: ends.every(({ status }) => status === 'COMPLETED') && crashed === crashes,
    },
    {
      promise: 'some were under way when it was killed',
      found: `at ${killedUnderWay} of ${kills}`,
      kept: killedUnderWay > 0,
    },
    { promise: `each file has each of ${rows} rows once`, found: `${wrong} that have not`, kept: wrong === 0 },
  ];
  console.log(
    `seed ${seed}: ${jobs} jobs of ${rows} rows ended ${seconds.toFixed(1)} s after their start, with ${calls} calls of the provider that were counted.`,
  );
  console.table(results.map(({ kept, promise, found }) => ({ kept: kept ? 'yes' : 'NO', promise, found })));
  process.exitCode = results.every(({ kept }) => kept) ? 0 : 1;
} finally {
  for (const service of services) service.child.kill('SIGKILL');
  provider.disconnect();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
  clearTimeout(limit);
}
