/**
 * Measures what it costs to record requests, and how fast they are found again.
 * `node scripts/bench/activity.ts [--seconds 4] [--rounds 8] [--rows 10000000] [--json]`. Everything stays on loopback and stops by itself.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import type { Knex } from 'knex';
import { createActivityStore, FILTERABLE_ACTIVITY } from '../../src/activity/activity-store.ts';
import { readPeriod } from '../../src/activity/intervals.ts';
import { createUsageStore } from '../../src/activity/usage-store.ts';
import { openDatabase } from '../../src/db/database.ts';
import { firstOf } from '../../src/db/row.ts';
import { createEgress } from '../../src/egress/index.ts';
import { createLogger } from '../../src/log.ts';
import { prepareSql } from '../../src/where/index.ts';
import { type LoadDatabase, startLoadDatabase } from '../event-load/postgres.ts';
import { cpuMsOf, type RunningService, startService, UNLIMITED } from './running-service.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '8' },
    rows: { type: 'string', default: '10000000' },
    json: { type: 'boolean', default: false },
  },
});
const [seconds, rounds, rowCount] = [Number(options.seconds), Number(options.rounds), Number(options.rows)];

const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };
const ENCRYPTION_KEYS = `bench:${Buffer.alloc(32, 7).toString('base64')}`;
const CONNECTIONS = 32;
/** Of the requests on the stored instances. */
const FAILURES_PER_THOUSAND = 5;
const INSTANCES = 200;
const DAYS = 7;
const PAGE = 100;
const RUNS = 40;

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

interface Measured {
  readonly service: RunningService;
  readonly request: { readonly url: string; readonly headers: Record<string, string> };
  readonly perSecond: number[];
  readonly cpuMs: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
}

async function start({ url, knex }: LoadDatabase, records: 'on' | 'off') {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-activity-'));
  await chmod(dataDir, 0o711);
  const databaseUrl = new URL(`/records_${records}`, url).href;
  await knex.raw(`create database records_${records}`);
  const service = await startService({
    dataDir,
    program: 'scripts/bench/activity-service.ts',
    environment: { ...UNLIMITED, RECORDS: records, DATABASE_URL: databaseUrl, ENCRYPTION_KEYS },
  });
  const response = await fetch(`${service.baseUrl}/instances`, {
    method: 'POST',
    headers: { authorization: service.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'bamboohr' }, name: 'bench', configuration: CONFIGURATION }),
  });
  const { token }: { token: string } = JSON.parse(await response.text());
  const query = new URLSearchParams({ where: "status = 'Active'", fields: 'id,firstName,lastName', pageSize: '20' });
  const headers = { authorization: `User ${service.secrets.userSecret}, Element ${token}` };
  const request = { url: `${service.baseUrl}/employees?${query}`, headers };
  return {
    measured: { service, request, ...none() } satisfies Measured,
    databaseUrl,
    end: async () => {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const none = () => ({ perSecond: [], cpuMs: [], p50Ms: [], p99Ms: [] });

/** Many connections for throughput and CPU time, one for the time of a request. */
async function measure({ service, request, perSecond, cpuMs, p50Ms, p99Ms }: Measured): Promise<void> {
  const before = cpuMsOf([service.pid]);
  const result = await autocannon({ ...request, connections: CONNECTIONS, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} answers were not 200`);
  perSecond.push(result.requests.average);
  p99Ms.push(result.latency.p99);
  cpuMs.push((cpuMsOf([service.pid]) - before) / result.requests.total);
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const times: number[] = [];
  const endAt = performance.now() + (seconds * 1000) / 2;
  while (performance.now() < endAt) {
    const startedAt = performance.now();
    await egress.request({ ...request, headers: { ...request.headers, 'accept-encoding': 'identity' } });
    times.push(performance.now() - startedAt);
  }
  await egress.close();
  p50Ms.push(medianOf(times));
}

async function measureCost(database: LoadDatabase) {
  const [on, off] = [await start(database, 'on'), await start(database, 'off')];
  try {
    for (const { measured } of [on, off])
      await autocannon({ ...measured.request, connections: CONNECTIONS, duration: 3 });
    for (let round = 0; round < rounds; round++) {
      // In turns, each first as often as the other.
      for (const { measured } of round % 2 === 0 ? [on, off] : [off, on]) await measure(measured);
    }
    const figures = ({ perSecond, cpuMs, p50Ms, p99Ms }: Measured) => ({
      requestsPerSecond: Math.round(medianOf(perSecond)),
      cpuMsPerRequest: medianOf(cpuMs),
      p50Ms: medianOf(p50Ms),
      p99MsOf32Connections: medianOf(p99Ms),
    });
    const [recorded, unrecorded] = [figures(on.measured), figures(off.measured)];
    const sizes = await stored(on.databaseUrl);
    const blocked = { ...on.measured, ...none() };
    await whileBlocked(on.databaseUrl, () => measure(blocked));
    return {
      recorded,
      unrecorded,
      throughputLost: 1 - recorded.requestsPerSecond / unrecorded.requestsPerSecond,
      addedP50Ms: recorded.p50Ms - unrecorded.p50Ms,
      addedCpuMs: recorded.cpuMsPerRequest - unrecorded.cpuMsPerRequest,
      ...sizes,
      databaseTakesNone: { ...figures(blocked), dropped: await droppedOf(on.measured.service) },
    };
  } finally {
    await on.end();
    await off.end();
  }
}

/** What a request with one call to its provider takes on the disk, indexes and all. */
function stored(url: string) {
  return withConnection(url, sizeOf);
}

/** Whoever writes activity waits until the work is done. */
function whileBlocked(url: string, work: () => Promise<void>): Promise<void> {
  return withConnection(url, (knex) =>
    knex.transaction(async (trx) => {
      await trx.raw('set local idle_in_transaction_session_timeout = 0');
      await trx.raw('lock table activity in access exclusive mode');
      await work();
    }),
  );
}

async function withConnection<Result>(url: string, work: (knex: Knex) => Promise<Result>): Promise<Result> {
  const { knex, close } = openDatabase({ url, poolSize: 1, log: createLogger({ level: 'fatal' }) });
  try {
    return await work(knex);
  } finally {
    await close();
  }
}

async function droppedOf(service: RunningService): Promise<number> {
  const metrics = await (await fetch(`${service.origin}/metrics`)).text();
  return Number(/^causeway_activity_dropped_total (\d+)$/m.exec(metrics)?.[1]);
}

async function sizeOf(knex: Knex): Promise<{ readonly rows: number; readonly bytesPerRow: number }> {
  const { rows } = await knex.raw<{ rows: { rows: number; bytes: number }[] }>(
    `select (select count(*) from activity) as rows,
       sum(pg_total_relation_size(inhrelid))::bigint as bytes from pg_inherits where inhparent = 'activity'::regclass`,
  );
  const found = firstOf(rows);
  return { rows: found.rows, bytesPerRow: Math.round(found.bytes / found.rows) };
}

/** Requests of a week, most of one account, evenly over its instances; a failure here and there. */
async function fill(knex: Knex): Promise<void> {
  for (let day = 0; day < DAYS; day++) {
    const name = `activity_bench_${day}`;
    await knex.raw(
      `create table ${name} partition of activity for values from (current_date - ${day}) to (current_date - ${day} + 1)`,
    );
    await unhurried(
      knex,
      `insert into activity (account_id, at, request_id, user_id, instance_id, duration_us, rows, call_count, status, cut,
         method, path, operation, element_key, code, pushdown, address, calls)
       select 1, current_date - ${day} + make_interval(secs => n * 86399.0 / ${rowCount / DAYS}), gen_random_uuid(), 1, 1 + n % ${INSTANCES},
         (random() * 100000)::bigint, 20, 1, case when random() < ${FAILURES_PER_THOUSAND / 1000} then 502 else 200 end, false,
         'GET', '/elements/api-v2/employees', 'listRecords', 'bamboohr', null, 'full', '127.0.0.1',
         '[["POST","acme.bamboohr.com","/api/v1/datasets/employees/query",200,20123,0]]'
       from generate_series(1, ${Math.floor(rowCount / DAYS)}) n`,
    );
  }
  await unhurried(
    knex,
    `insert into usage_day (account_id, metric, element_key, at, count, client_errors, server_errors, total_us, min_us, max_us, durations)
     select account, 'call', 'element-' || element, date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => day),
       1000, 5, 5, 20000000, 900, 900000, array(select (random() * 50)::integer from generate_series(1, 100))
     from generate_series(1, 500) account, generate_series(1, 5) element, generate_series(0, 40) day`,
  );
  await unhurried(knex, 'analyze activity');
  await unhurried(knex, 'analyze usage_day');
}

/** Without the time limit that statements of the service have. */
function unhurried(knex: Knex, statement: string): Promise<void> {
  return knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0');
    await trx.raw(statement);
  });
}

/** The time of each run, and what the last one read, which depends on no other load of the machine. */
async function timed(knex: Knex, query: (knex: Knex, run: number) => Promise<unknown>) {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    await query(knex, run);
    times.push(performance.now() - startedAt);
  }
  let pages = 0;
  await query(
    explained(knex, (plan) => {
      pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    }),
    RUNS,
  );
  return { p50Ms: medianOf(times), mostMs: Math.max(...times), pages };
}

type PlanFigures = Readonly<Record<'Shared Hit Blocks' | 'Shared Read Blocks', number>>;

/** Tells of the plan of each statement that is written as SQL, which has no rows. */
function explained(knex: Knex, tell: (plan: PlanFigures) => void): Knex {
  const raw = async (sql: string, bindings: Knex.RawBinding[]) => {
    const { rows } = await knex.raw(`explain (analyze, buffers, format json) ${sql}`, bindings);
    tell(rows[0]['QUERY PLAN'][0].Plan);
    return { rows: [] };
  };
  return new Proxy(knex, { get: (target, key) => (key === 'raw' ? raw : Reflect.get(target, key)) });
}

async function measureQueries({ knex }: LoadDatabase) {
  await fill(knex);
  const condition = prepareSql('status >= 400', FILTERABLE_ACTIVITY);
  const ofInstance = (run: number) => ({ instanceId: 1 + ((run * 7) % INSTANCES), limit: PAGE });
  const { requestId } = firstOf(await createActivityStore(knex).list(1, { limit: 1 }));
  const month = () => readPeriod({ interval: 'day' }, Date.now());
  return {
    ...(await sizeOf(knex)),
    lastFailuresOfInstance: await timed(knex, (via, run) =>
      createActivityStore(via).list(1, { ...ofInstance(run), condition }),
    ),
    lastOfInstance: await timed(knex, (via, run) => createActivityStore(via).list(1, ofInstance(run))),
    lastOfAccount: await timed(knex, (via) => createActivityStore(via).list(1, { limit: PAGE })),
    byRequestId: await timed(knex, (via) => createActivityStore(via).find(1, requestId)),
    monthByDay: await timed(knex, (via, run) => createUsageStore(via).list({ accountId: 1 + run }, 'call', month())),
  };
}

const database = await startLoadDatabase();
try {
  const result = {
    machine: `${cpus().length} × ${cpus()[0]?.model}, load ${loadavg().map((load) => load.toFixed(1))}, Node.js ${process.version}`,
    cost: rounds > 0 ? await measureCost(database) : undefined,
    queries: rowCount > 0 ? await measureQueries(database) : undefined,
  };
  if (options.json) console.log(JSON.stringify(result));
  else console.dir(result, { depth: 5 });
} finally {
  await database.stop();
}
