/**
 * Polling: instances of a local provider, whose pollers are due all the time, on one process. `npm run bench:polling [-- --resources 20000]
 * [--interval 300] [--seconds 30] [--declared] [--json]`. What counts is how many polls are due in a second: 1,000 resources every 15 s are the same load as 20,000
 * every 300 s, but for memory and the size of tables. PostgreSQL is durable; the provider, which also receives the events, and this
 * caller share the machine with it and the service. Everything stays on loopback and stops by itself.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { createLatencyRecorder, type Latency, nowMicros } from '../event-load/clock.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { addPolledInstances, POLLED_CONNECTORS } from '../poll-load/instances.ts';
import { startProvider } from '../poll-load/processes.ts';
import { cpuMsOf, startService, UNLIMITED } from './running-service.ts';

/** As many polls a second as 20,000 resources have in five minutes. */
const POLLS_PER_SECOND = 20_000 / 300;
const RECORDS = 20;
const CALLS_PER_SECOND = 50;
const CHANGES_PER_SECOND = 20;
const WARM_UP_SECONDS = 5;
const TICK_MS = 5;
const LONGEST_STORM_MS = 120_000;
const MONTH_MS = 30 * 24 * 3_600_000;

const { values: options } = parseArgs({
  options: {
    resources: { type: 'string', default: '20000' },
    interval: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    declared: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const resources = Number(options.resources);
const seconds = Number(options.seconds);
const intervalMs = Math.round(1000 * Number(options.interval ?? resources / POLLS_PER_SECOND));

const database = await startLoadDatabase();
const { knex } = database;
// The service makes a first account, with secrets that this script may know, where there is none.
await knex('account').del();
await knex('organization').del();
const provider = await startProvider();
const newest = await provider.fill(resources, RECORDS);
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const encryptionKeys = `bench:${randomBytes(32).toString('base64')}`;
const service = await startService({
  dataDir,
  environment: {
    ...UNLIMITED,
    HOST: '127.0.0.1',
    EGRESS_ALLOW: '127.0.0.0/8',
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: encryptionKeys,
    CONNECTORS_PATH: POLLED_CONNECTORS,
  },
  ...(options.profile !== undefined && { execArgv: ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] }),
  stdio: ['ignore', 'ignore', 'inherit'],
});
const agent = new Agent({ connections: 64, pipelining: 1 });

try {
  const { id: accountId } = await knex('account').first('id').then(known);
  const same = { accountId, encryptionKeys, providerUrl: provider.url, byUrl: !options.declared };
  const token = await addPolledInstances(knex, { ...same, count: 1, intervalMs: MONTH_MS, dueOverMs: 0 });
  await callEvenly(token, WARM_UP_SECONDS);
  const idle = await measure(() => sleep(WARM_UP_SECONDS * 1000));
  const alone = await callEvenly(token, seconds / 2);
  await addPolledInstances(knex, { ...same, count: resources, intervalMs, dueOverMs: intervalMs, newest });
  await sleep(WARM_UP_SECONDS * 1000);
  const empty = await measure(() => sleep(seconds * 1000));
  const beside = await callEvenly(token, seconds / 2);
  await provider.report();
  await provider.begin({ perSecond: CHANGES_PER_SECOND, mostLateMs: 0, mostSlowMs: 0 });
  const changing = await measure(() => sleep(seconds * 1000));
  await provider.end();
  await sleep(1_000);
  const { changes, missing, repeated, acceptedTwice, unknown, fromResponse, fromChange } = await provider.report();
  await knex('poll').whereNotNull('due').update({ due: null });
  const aloneAgain = await callEvenly(token, seconds / 2);
  let stormSeconds = 0;
  const storm = await measure(async () => {
    stormSeconds = await weatherStorm();
  });
  await knex('poll').update({ due: new Date(), interval_ms: MONTH_MS });
  const besideStorm = await callEvenly(token, Math.min(seconds, 10));

  const perPoll = (value: number, idleValue: number, polls: number, took: number) =>
    round((value - (idleValue / idle.seconds) * took) / Math.max(1, polls));
  const costs = ({ polls, xacts, serviceCpuMs, postgresCpuMs, seconds: took }: Measured) => ({
    pollsPerSecond: round(polls / took),
    statementsPerPoll: perPoll(xacts, idle.xacts, polls, took),
    serviceCpuMsPer1000: Math.round(1000 * perPoll(serviceCpuMs, idle.serviceCpuMs, polls, took)),
    postgresCpuMsPer1000: Math.round(1000 * perPoll(postgresCpuMs, idle.postgresCpuMs, polls, took)),
  });
  const figures = {
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    load: loadavg().map(round),
    conditions: `${resources} resources every ${intervalMs / 1000} s (${round((1000 * resources) / intervalMs)} due in a second), asked by ${
      options.declared ? 'the declared field' : 'URL'
    }; each empty poll reads the record that changed last; statements are transactions, less those of the idle service`,
    empty: {
      ...costs(empty),
      lagP50Ms: empty.lagP50Ms,
      lagP99Ms: empty.lagP99Ms,
      memoryMb: empty.memoryMb,
      idleMemoryMb: idle.memoryMb,
    },
    changing: {
      ...costs(changing),
      lagP99Ms: changing.lagP99Ms,
      changes,
      notYetFound: missing,
      repeated,
      acceptedTwice,
      unknown,
      responseToCallback: shown(fromResponse),
      changeToCallback: shown(fromChange),
    },
    storm: { ...costs(storm), pollsPerSecond: round(storm.polls / stormSeconds), memoryMb: storm.memoryMb },
    interactive: {
      alone: shown(alone),
      besidePolls: shown(beside),
      aloneAgain: shown(aloneAgain),
      besideStorm: shown(besideStorm),
      p99Ratio: round((2 * beside.p99) / (alone.p99 + aloneAgain.p99)),
    },
  };
  if (options.json) console.log(JSON.stringify(figures));
  else {
    const { empty, changing, storm, interactive, ...about } = figures;
    console.log(about);
    const { responseToCallback, changeToCallback, ...changed } = changing;
    console.table({ empty, changing: changed, storm });
    console.table({
      'response → callback': responseToCallback,
      'change → callback': changeToCallback,
      ...Object.fromEntries(Object.entries(interactive).filter(([, value]) => typeof value === 'object')),
    });
    console.log(`interactive p99 beside polls / alone: ${interactive.p99Ratio}`);
  }
} finally {
  await agent.close();
  await service.stop();
  await provider.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}

interface Measured {
  readonly seconds: number;
  readonly polls: number;
  /** Transactions: a statement by itself is one. */
  readonly xacts: number;
  readonly serviceCpuMs: number;
  readonly postgresCpuMs: number;
  readonly memoryMb: number;
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
}

async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const [before, startedAtMs] = [await counts(), performance.now()];
  await work();
  const [after, tookMs] = [await counts(), performance.now() - startedAtMs];
  const lags = after.lags.map(([edge, count], index) => [edge, count - (before.lags[index]?.[1] ?? 0)] as const);
  return {
    seconds: tookMs / 1000,
    polls: after.polls - before.polls,
    xacts: after.xacts - before.xacts,
    serviceCpuMs: after.serviceCpuMs - before.serviceCpuMs,
    postgresCpuMs: after.postgresCpuMs - before.postgresCpuMs,
    memoryMb: memoryMbOf(service.pid),
    lagP50Ms: Math.round(1000 * quantile(lags, 0.5)),
    lagP99Ms: Math.round(1000 * quantile(lags, 0.99)),
  };
}

async function counts() {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (total, [, n]) => total + Number(n),
      0,
    );
  const lags = [...text.matchAll(/^causeway_poll_lag_seconds_bucket\{.*?le="([^"]+)".*?\} (\S+)$/gm)].map(
    ([, edge, count]) => [edge === '+Inf' ? Number.POSITIVE_INFINITY : Number(edge), Number(count)] as const,
  );
  // Backends tell what they did at most once a second.
  await sleep(1_000);
  const { rows } = await knex.raw(
    'select xact_commit + xact_rollback as xacts from pg_stat_database where datname = current_database()',
  );
  const xacts = Number(rows[0].xacts);
  const cpu = { serviceCpuMs: cpuMsOf([service.pid]), postgresCpuMs: await database.cpuMs() };
  return { polls: sum('causeway_polls_total'), lags, xacts, ...cpu };
}

/** Of cumulative counts by upper edge, evenly between two edges. */
function quantile(buckets: readonly (readonly [edge: number, count: number])[], share: number): number {
  const wanted = share * (buckets.at(-1)?.[1] ?? 0);
  const at = buckets.findIndex(([, count]) => count >= wanted && count > 0);
  const [low, below] = at > 0 ? (buckets[at - 1] ?? [0, 0]) : [0, 0];
  const [high, upTo] = buckets[at] ?? [0, 0];
  return high === Number.POSITIVE_INFINITY ? low : low + ((high - low) * (wanted - below)) / Math.max(1, upTo - below);
}

/** Every poller is due at once, as after downtime. @returns after how many seconds all have run */
async function weatherStorm(): Promise<number> {
  const startedAtMs = performance.now();
  await knex('poll').update({ due: new Date(), interval_ms: MONTH_MS });
  const giveUpAtMs = performance.now() + LONGEST_STORM_MS;
  while (performance.now() < giveUpAtMs) {
    const waiting = await knex('poll').where('due', '<=', new Date()).first('instance_id');
    if (waiting === undefined) return (performance.now() - startedAtMs) / 1000;
    await sleep(50);
  }
  throw new Error(`Not all polls were made within ${LONGEST_STORM_MS / 1000} s`);
}

/** Open loop: a caller of an instance, however long answers take. */
async function callEvenly(token: string, forSeconds: number): Promise<Latency> {
  const { authorization } = service;
  const latency = createLatencyRecorder();
  const { pathname } = new URL(`${service.baseUrl}/things`);
  const call = async (dueMicros: number) => {
    const { statusCode, body } = await agent.request({
      origin: service.origin,
      path: `${pathname}?pageSize=10`,
      method: 'GET',
      headers: { authorization: `${authorization}, Element ${token}` },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET /things answered ${statusCode}: ${text}`);
    latency.note(nowMicros() - dueMicros);
  };
  const startedMicros = nowMicros();
  const sent: Promise<void>[] = [];
  while (sent.length < forSeconds * CALLS_PER_SECOND) {
    const due = ((nowMicros() - startedMicros) / 1e6) * CALLS_PER_SECOND;
    while (sent.length < due) sent.push(call(startedMicros + (sent.length / CALLS_PER_SECOND) * 1e6));
    await sleep(TICK_MS);
  }
  await Promise.all(sent);
  return latency.take();
}

function memoryMbOf(pid: number): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

function shown({ count, p50, p95, p99, max }: Latency) {
  return { count, p50Ms: round(p50), p95Ms: round(p95), p99Ms: round(p99), maxMs: round(max) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function known<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('The service made no account');
  return row;
}
