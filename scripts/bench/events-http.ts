/**
 * Events through the API, as a caller sends them: `POST /events/test` until the receiver has them. Open loop at given rates, then
 * as many as are taken; and at last while the service is killed and started again. `node scripts/bench/events-http.ts [--seconds 8]
 * [--kills 3]`. PostgreSQL is durable; the service (API and worker), the
 * receiver and this caller share the machine with it. Everything stays on loopback and stops by itself.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { nowMicros } from '../event-load/clock.ts';
import { writeObjectId } from '../event-load/messages.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { startReceiver } from '../event-load/processes.ts';
import { cpuMsOf, startService, UNLIMITED } from './running-service.ts';

const BODY = 'x'.repeat(900);
const RATES = [200, 1_000] as const;
const SATURATION_IN_FLIGHT = 256;
const WARM_UP_SECONDS = 3;
const TICK_MS = 5;
const SECONDS_BETWEEN_KILLS = 4;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, kills: { type: 'string', default: '3' } },
});
const seconds = Number(options.seconds);
const kills = Number(options.kills);

const database = await startLoadDatabase();
// The service makes a first account, with secrets that this script may know, where there is none.
await database.knex('account').del();
await database.knex('organization').del();
const receiver = await startReceiver();
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const encryptionKeys = `bench:${randomBytes(32).toString('base64')}`;
const start = () =>
  startService({
    dataDir,
    environment: {
      ...UNLIMITED,
      HOST: '127.0.0.1',
      EGRESS_ALLOW: '127.0.0.0/8',
      DATABASE_URL: database.url,
      ENCRYPTION_KEYS: encryptionKeys,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
let service = await start();
const agent = new Agent({ connections: SATURATION_IN_FLIGHT, pipelining: 1 });
let nextNumber = 1;

try {
  const { authorization } = service;
  const instance = await call('/instances', authorization, {
    element: { key: 'bamboohr' },
    name: 'bench',
    configuration: {
      username: 'demo-key',
      'company.name': 'acme',
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': `${receiver.url}/one`,
    },
  });
  const { id: instanceId }: { id: number } = JSON.parse(instance);
  const send = () => {
    const objectId = writeObjectId(nextNumber++, nowMicros());
    return call('/events/test', authorization, {
      instanceId,
      type: 'employees.updated',
      data: { objectId, text: BODY },
    });
  };
  await atRate(send, 500, WARM_UP_SECONDS);
  const rows: Record<string, object> = {};
  for (const rate of RATES) rows[`${rate}/s`] = await measure(() => atRate(send, rate, seconds));
  rows.saturated = await measure(() => saturate(send));
  const survived = kills > 0 ? await surviveKills(authorization, instanceId) : undefined;
  console.log({
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    besides: `PostgreSQL (durable), receiver and caller; load average ${loadavg().map((value) => value.toFixed(2))}`,
  });
  console.table(rows);
  if (survived !== undefined) console.table(survived);
} finally {
  await agent.close();
  await service.stop();
  await receiver.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function call(path: string, authorization: string, body: object): Promise<string> {
  const { statusCode, body: answer } = await agent.request({
    origin: service.origin,
    path: new URL(service.baseUrl + path).pathname,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
  return text;
}

/** Sends what is due, whether earlier ones were answered or not. */
async function atRate(send: () => Promise<unknown>, perSecond: number, forSeconds: number): Promise<number> {
  const sent: Promise<unknown>[] = [];
  const startedAtMs = performance.now();
  const total = perSecond * forSeconds;
  while (sent.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAtMs) / 1000) * perSecond));
    while (sent.length < due) sent.push(send());
    await sleep(TICK_MS);
  }
  await Promise.all(sent);
  return (performance.now() - startedAtMs) / 1000;
}

async function saturate(send: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + seconds * 1000;
  const one = async () => {
    while (performance.now() < endsAtMs) await send();
  };
  await Promise.all(Array.from({ length: SATURATION_IN_FLIGHT }, one));
  return (performance.now() - startedAtMs) / 1000;
}

/** A thousand a second, while the service is killed again and again, and started. What it acknowledged must arrive. */
async function surviveKills(authorization: string, instanceId: number): Promise<object> {
  const acknowledged = new Set<number>();
  let failed = 0;
  const send = async () => {
    const number = nextNumber++;
    const data = { objectId: writeObjectId(number, nowMicros()), text: BODY };
    try {
      await call('/events/test', authorization, { instanceId, type: 'employees.updated', data });
      acknowledged.add(number);
    } catch {
      failed++;
    }
  };
  const load = atRate(send, 1_000, kills * SECONDS_BETWEEN_KILLS + SECONDS_BETWEEN_KILLS);
  for (let kill = 0; kill < kills; kill++) {
    await sleep(SECONDS_BETWEEN_KILLS * 1000);
    const ended = once(service.child, 'exit');
    service.child.kill('SIGKILL');
    await ended;
    service = await start();
  }
  await load;
  await allDelivered(acknowledged.size);
  const { numbers, duplicates } = await receiver.numbers();
  const received = new Set(numbers);
  return {
    kills,
    acknowledged: acknowledged.size,
    failed,
    lost: [...acknowledged].filter((number) => !received.has(number)).length,
    duplicates,
    duplicatePercent: Math.round((10_000 * duplicates) / Math.max(1, acknowledged.size)) / 100,
  };
}

/** `run` answers how many seconds it took. Events sent are counted when they have arrived. */
async function measure(run: () => Promise<number>): Promise<object> {
  await receiver.report();
  const [first, serviceBefore, postgresBefore] = [nextNumber, cpuMsOf([service.pid]), await database.cpuMs()];
  const took = await run();
  const sent = nextNumber - first;
  const { received, latency } = await arrived(sent);
  const round = (value: number) => Math.round(value * 100) / 100;
  return {
    sent,
    received,
    perSecond: Math.round(sent / took),
    p50Ms: round(latency.p50),
    p95Ms: round(latency.p95),
    p99Ms: round(latency.p99),
    serviceCpuMsPerEvent: round((cpuMsOf([service.pid]) - serviceBefore) / sent),
    postgresCpuMsPerEvent: round(((await database.cpuMs()) - postgresBefore) / sent),
  };
}

async function arrived(sent: number) {
  await allDelivered(sent);
  return receiver.report();
}

async function allDelivered(sent: number): Promise<void> {
  const giveUpAtMs = performance.now() + 30_000;
  for (;;) {
    const { rows } = await database.knex.raw('select exists (select from delivery) as waiting');
    if (!rows[0].waiting) return;
    if (performance.now() > giveUpAtMs) throw new Error(`Not all of ${sent} events arrived`);
    await sleep(20);
  }
}
