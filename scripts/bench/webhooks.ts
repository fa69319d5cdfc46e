/**
 * Webhooks of a provider: calls a second, and how long the provider waits until its events are committed, beside the same load on
 * `POST /events/test`. Open loop. `node scripts/bench/webhooks.ts [--seconds 8] [--rate 1000]`. PostgreSQL is durable; the service, the receiver and
 * this caller share the machine with it. Everything stays on loopback and stops by itself.
 */

import { createHmac, randomBytes } from 'node:crypto';
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

const AUTH_TOKEN = randomBytes(16).toString('hex');
const BODY = 'x'.repeat(900);
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;
const TICK_MS = 2;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, rate: { type: 'string', default: '1000' } },
});
const [seconds, rate] = [Number(options.seconds), Number(options.rate)];

const database = await startLoadDatabase();
// The service makes a first account, with secrets that this script may know, where there is none.
await database.knex('account').del();
await database.knex('organization').del();
const receiver = await startReceiver();
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const service = await startService({
  dataDir,
  environment: {
    ...UNLIMITED,
    HOST: '127.0.0.1',
    EGRESS_ALLOW: '127.0.0.0/8',
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: `bench:${randomBytes(32).toString('base64')}`,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
let nextNumber = 1;

try {
  const { authorization } = service;
  const basePath = new URL(service.baseUrl).pathname;
  const json = { authorization, 'content-type': 'application/json' };
  const created = await post(
    `${basePath}/instances`,
    json,
    JSON.stringify({
      element: { key: 'twilio' },
      name: 'bench',
      configuration: {
        username: `AC${'c0ffee00'.repeat(4)}`,
        password: 'demo-auth-token',
        'auth.token': AUTH_TOKEN,
        simulator: true,
        'event.notification.enabled': true,
        'event.notification.callback.url': `${receiver.url}/one`,
        'event.notification.hydrate': false,
      },
    }),
  );
  const { id: instanceId, eventUrl }: { id: number; eventUrl: string } = JSON.parse(created);
  const sendWebhook = () => {
    const body = new URLSearchParams({
      Body: BODY,
      MessageSid: writeObjectId(nextNumber++, nowMicros()),
      SmsStatus: 'received',
    });
    const signature = createHmac('sha1', AUTH_TOKEN)
      .update(eventUrl + [...body].flat().join(''))
      .digest('base64');
    const type = 'application/x-www-form-urlencoded';
    return post(new URL(eventUrl).pathname, { 'content-type': type, 'x-twilio-signature': signature }, body.toString());
  };
  const sendTest = () => {
    const data = { objectId: writeObjectId(nextNumber++, nowMicros()), Body: BODY };
    return post(`${basePath}/events/test`, json, JSON.stringify({ instanceId, type: 'messages.created', data }));
  };
  await atRate(sendTest, rate / 2, WARM_UP_SECONDS);
  await atRate(sendWebhook, rate / 2, WARM_UP_SECONDS);
  const rows: Record<string, object> = {};
  for (const round of [1, 2]) {
    rows[`webhooks ${round}`] = await measure(sendWebhook);
    rows[`/events/test ${round}`] = await measure(sendTest);
  }
  console.log({
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    besides: `PostgreSQL (durable), receiver and caller; load average ${loadavg().map((value) => value.toFixed(2))}`,
  });
  console.table(rows);
} finally {
  await agent.close();
  await service.stop();
  await receiver.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> {
  const { statusCode, body: answer } = await agent.request({
    origin: service.origin,
    path,
    method: 'POST',
    headers,
    body,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
  return text;
}

/** Sends what is due, whether earlier ones were answered or not. @returns how long each took, counted from when it was due */
async function atRate(send: () => Promise<unknown>, perSecond: number, forSeconds: number): Promise<readonly number[]> {
  const sent: Promise<number>[] = [];
  const startedAtMs = performance.now();
  const timed = async (dueAtMs: number) => {
    await send();
    return performance.now() - dueAtMs;
  };
  const total = perSecond * forSeconds;
  while (sent.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAtMs) / 1000) * perSecond));
    while (sent.length < due) sent.push(timed(startedAtMs + (sent.length / perSecond) * 1000));
    await sleep(TICK_MS);
  }
  return Promise.all(sent);
}

async function measure(send: () => Promise<unknown>): Promise<object> {
  const [serviceBefore, postgresBefore] = [cpuMsOf([service.pid]), await database.cpuMs()];
  const startedAtMs = performance.now();
  const took = (await atRate(send, rate, seconds)).toSorted((one, other) => one - other);
  const perSecond = Math.round(took.length / ((performance.now() - startedAtMs) / 1000));
  const at = (part: number) => Math.round((took[Math.floor(part * took.length)] ?? 0) * 10) / 10;
  const perEvent = (ms: number) => Math.round((ms / took.length) * 100) / 100;
  return {
    sent: took.length,
    perSecond,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    serviceCpuMsPerEvent: perEvent(cpuMsOf([service.pid]) - serviceBefore),
    postgresCpuMsPerEvent: perEvent((await database.cpuMs()) - postgresBefore),
  };
}
