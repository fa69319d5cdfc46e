/**
 * Measures the delivery of events: `npm run bench:events [-- --seconds 10] [--json file] [--only …] [--profile folder]`. PostgreSQL, sender and
 * receiver are processes of their own on loopback, and all of them share the machine. Ends by itself.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Latency } from '../event-load/clock.ts';
import type { LoadReport } from '../event-load/messages.ts';
import { drained, type LoadDatabase, startLoadDatabase } from '../event-load/postgres.ts';
import { type Receiver, type Sender, startReceiver, startSender } from '../event-load/processes.ts';
import { describeMachine, limitTo, round } from './measure.ts';

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    json: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'string' },
  },
});
const seconds = Number(given.seconds);
const BODY_BYTES = 1024;
const LIMIT_MS = 20 * 60_000;
const ENDPOINTS = 100;
const RATES = [50, 200, 1_000, 2_000] as const;
const SATURATION_IN_FLIGHT = 2_000;

interface Bench {
  readonly database: LoadDatabase;
  readonly receiver: Receiver;
  readonly sender: Sender;
}

/** A line of the result: figures by name with unit. */
type Figures = Readonly<Record<string, number>>;

let nextNumber = 0;

function takeNumbers(count: number): number {
  const first = nextNumber;
  nextNumber += count;
  return first;
}

const ONE_ENDPOINT = [0] as const;
const MANY_ENDPOINTS = Array.from({ length: ENDPOINTS }, (_, index) => index + 1);
const CALLBACK_PATHS = ['/one', ...MANY_ENDPOINTS.map((index) => `/many/${index}`)];

/** Sends a load, waits until everything is delivered, and returns the figures. */
async function measure(
  bench: Bench,
  run: () => Promise<LoadReport>,
  paths?: readonly string[],
): Promise<{ readonly report: LoadReport; readonly latency: Latency; readonly costs: Figures }> {
  const { database, receiver } = bench;
  await receiver.report();
  const [walBefore, cpuBefore] = [await database.walBytes(), await database.cpuMs()];
  const report = await run();
  await drained(database.knex);
  const { received, latency, cpuMs } = await receiver.report(paths);
  const perThousand = (ms: number) => round((ms * 1000) / Math.max(1, received));
  const costs = {
    walBytesPerDelivery: Math.round(((await database.walBytes()) - walBefore) / Math.max(1, received)),
    senderCpuMsPer1000: perThousand(report.cpuMs),
    receiverCpuMsPer1000: perThousand(cpuMs),
    postgresCpuMsPer1000: perThousand((await database.cpuMs()) - cpuBefore),
  };
  return { report, latency, costs };
}

function saturate(bench: Bench, instanceIds: readonly number[], until: 'accept' | 'deliver', forSeconds = seconds) {
  const firstNumber = takeNumbers(10_000_000);
  return bench.sender.saturate({
    seconds: forSeconds,
    firstNumber,
    instanceIds,
    inFlight: SATURATION_IN_FLIGHT,
    until,
  });
}

function load(bench: Bench, instanceIds: readonly number[], perSecond: number, forSeconds = seconds) {
  const firstNumber = takeNumbers(perSecond * forSeconds);
  return bench.sender.load({ perSecond, seconds: forSeconds, firstNumber, instanceIds });
}

async function throughput(bench: Bench, instanceIds: readonly number[]): Promise<Figures> {
  const { report, latency, costs } = await measure(bench, () => saturate(bench, instanceIds, 'deliver'));
  return { deliveredPerSecond: perSecond(report.delivered, report), p50Ms: latency.p50, p99Ms: latency.p99, ...costs };
}

async function acceptance(bench: Bench): Promise<Figures> {
  const { report } = await measure(bench, () => saturate(bench, MANY_ENDPOINTS, 'accept', Math.min(seconds, 5)));
  return {
    acceptedPerSecond: perSecond(report.accepted, report),
    acceptP50Ms: report.accept.p50,
    acceptP99Ms: report.accept.p99,
  };
}

async function latencyAt(bench: Bench, rate: number): Promise<Figures> {
  const { report, latency, costs } = await measure(bench, () => load(bench, MANY_ENDPOINTS, rate));
  const { p50, p95, p99, max } = latency;
  return { p50Ms: p50, p95Ms: p95, p99Ms: p99, maxMs: max, acceptP99Ms: report.accept.p99, ...costs };
}

const MEASUREMENTS: Readonly<Record<string, (bench: Bench) => Promise<Figures>>> = {
  'saturated, 1 endpoint': (bench) => throughput(bench, ONE_ENDPOINT),
  'saturated, 100 endpoints': (bench) => throughput(bench, MANY_ENDPOINTS),
  'accepting alone': acceptance,
  ...Object.fromEntries(RATES.map((rate) => [`${rate}/s`, (bench: Bench) => latencyAt(bench, rate)])),
};

function perSecond(count: number, report: LoadReport): number {
  return Math.round(count / report.seconds);
}

function rounded(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]));
}

async function conditions(database: LoadDatabase) {
  const { rows } = await database.knex.raw('show server_version');
  return {
    ...describeMachine(),
    postgres: rows[0].server_version,
    besides: 'PostgreSQL (durable), sender, receiver and whatever else runs',
    bodyBytes: BODY_BYTES,
    secondsOfEach: seconds,
  };
}

limitTo(LIMIT_MS);
const [database, receiver] = await Promise.all([startLoadDatabase(), startReceiver()]);
try {
  const setup = {
    databaseUrl: database.url,
    accountIds: database.accountIds,
    bodyBytes: BODY_BYTES,
    options: {},
  };
  const callbackUrls = CALLBACK_PATHS.map((path) => receiver.url + path);
  const execArgv = given.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${given.profile}`];
  const sender = await startSender({ ...setup, callbackUrls }, { execArgv });
  const bench = { database, receiver, sender };
  await load(bench, MANY_ENDPOINTS, 500, 5);
  await drained(database.knex);

  const results: Record<string, Figures> = {};
  const wanted = given.only?.split(',');
  for (const [name, run] of Object.entries(MEASUREMENTS)) {
    if (wanted !== undefined && !wanted.some((part) => name.includes(part))) continue;
    results[name] = rounded(await run(bench));
    console.log(name, results[name]);
  }
  await sender.stop();
  const result = { conditions: await conditions(database), results };
  console.log(result.conditions);
  console.table(results);
  if (given.json !== undefined) await writeFile(given.json, `${JSON.stringify(result, null, 2)}\n`);
} finally {
  await receiver.stop();
  await database.stop();
}
