/** A process that runs the engine of events as the service does, and publishes events on request of its parent. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSettings } from '../../src/accounts/settings.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { createNotifier } from '../../src/db/notifier.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { createEgress, type EgressRequest } from '../../src/egress/index.ts';
import { createEndpoints } from '../../src/events/endpoints/endpoints.ts';
import { composeDeliveries, composeEvents, createSubscriptions } from '../../src/events/index.ts';
import type { EventSource, NewEvent } from '../../src/events/model.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Platform } from '../../src/platform.ts';
import { createWorkBuckets } from '../../src/work-buckets.ts';
import { serve, tell } from './channel.ts';
import { createLatencyRecorder, nowMicros } from './clock.ts';
import {
  type ChildMessage,
  type LoadOptions,
  type LoadReport,
  type SaturationOptions,
  SETUP_VARIABLE,
  type SenderCommand,
  type SenderSetup,
  writeObjectId,
} from './messages.ts';

const setup: SenderSetup = JSON.parse(process.env[SETUP_VARIABLE] ?? '');
const { databaseUrl, accountIds, callbackUrls, endpoints: given = [], bodyBytes, options } = setup;
/** The key is no secret, because the databases of measurements are deleted. */
const KEYS = `load:${Buffer.alloc(32, 9).toString('base64')}`;
const COMMIT_REPORT_MS = 5;
const TICK_MS = 1;
const POOL_SIZE = 10;
const RETENTION_DAYS = 30;

const level = process.env.LOAD_LOG_LEVEL === 'warn' ? 'warn' : 'fatal';
const log = createLogger({ level });
const database = openDatabase({ url: databaseUrl, poolSize: POOL_SIZE, log });
const { knex } = database;
const notifier = createNotifier({ url: databaseUrl, knex, log });
const egress = createEgress({ allow: ['127.0.0.0/8'] });
const keyring = createKeyring(KEYS);
let delivered = 0;
const buckets = createWorkBuckets();
const platform: Platform = {
  knex,
  behind: knex,
  shares: createPoolShares({ knex, poolSize: POOL_SIZE }),
  keyring,
  keys: await openPlatformKeys({ knex, keyring }),
  notifier,
  buckets,
  egress: { ...egress, request: countingRequest },
  log,
  metrics: createMetrics({ processMetrics: false }),
  clock: SYSTEM_CLOCK,
  random: { bytes: randomBytes, fraction: Math.random },
};
const subscriptions = createSubscriptions(platform);
const settings = createSettings(platform, subscriptions.ensure);
const { notifications } = composeDeliveries(platform, { subscriptions, settings });
const endpoints = createEndpoints(
  platform,
  {
    subscriptions,
    knownObjects: async () => [],
    elements: { keys: () => ['load'], hubs: () => ['general'] },
    hasInstance: async () => true,
    openRecords: () => ({ record: async () => undefined, types: async () => undefined }),
  },
  { maxPerAccount: given.length },
);
const events = composeEvents(
  platform,
  {
    findSource,
    findEndpoints: endpoints.find,
    subscriptions,
    settings: settings.ofDelivery,
    notifications,
    noteEvent: () => {},
  },
  { delivers: true, retentionDays: RETENTION_DAYS, options },
);

const jobs = createJobs({
  url: databaseUrl,
  log,
  clock: SYSTEM_CLOCK,
  role: 'worker',
  queues: {},
  handOut: { ...platform, buckets, countWorkers: events.countSenders },
});

const sources = new Map<number, EventSource>(
  callbackUrls.map((callbackUrl, instanceId) => [
    instanceId,
    {
      accountId: accountOf(instanceId),
      instanceId,
      instanceName: `Instance ${instanceId}`,
      tags: ['load'],
      elementKey: 'load',
      hub: 'general',
      isEnabled: true,
      callbackUrl: callbackUrl ?? undefined,
      signatureKey: undefined,
      ordered: false,
    },
  ]),
);
const object = { text: 'x'.repeat(Math.max(0, bodyBytes - 300)) };
let committed: number[] = [];

function accountOf(instanceId: number): number {
  return accountIds[instanceId % accountIds.length] ?? 0;
}

async function findSource(_account: number, instanceId: number): Promise<EventSource | undefined> {
  return sources.get(instanceId);
}

async function countingRequest(request: EgressRequest) {
  const response = await egress.request(request);
  delivered++;
  return response;
}

function toEvent(instanceId: number, number: number, scheduledMicros: number): NewEvent {
  const objectId = writeObjectId(number, scheduledMicros);
  const accountId = accountOf(instanceId);
  return { accountId, instanceId, type: 'items.updated', objectName: 'items', objectId, object };
}

/** Notes the number of a committed event. Numbers are reported in batches, because a message for each would be most of the work. */
function noteCommitted(number: number): void {
  committed.push(number);
  if (committed.length === 1) setTimeout(reportCommitted, COMMIT_REPORT_MS);
}

function reportCommitted(): void {
  tell({ committed } satisfies ChildMessage);
  committed = [];
}

function createRun({ firstNumber, instanceIds }: Pick<LoadOptions, 'firstNumber' | 'instanceIds'>) {
  const latency = createLatencyRecorder();
  const startedMicros = nowMicros();
  const cpu = process.cpuUsage();
  const deliveredBefore = delivered;
  let sent = 0;
  let accepted = 0;
  let refused = 0;

  async function publish(scheduledMicros: number): Promise<void> {
    const number = firstNumber + sent;
    const instanceId = instanceIds[sent % instanceIds.length] ?? 0;
    sent++;
    try {
      await events.accept([toEvent(instanceId, number, scheduledMicros)]);
      accepted++;
      latency.note(nowMicros() - scheduledMicros);
      noteCommitted(number);
    } catch (error) {
      refused++;
      log.warn({ err: error }, 'refused');
    }
  }

  return {
    startedMicros,
    publish,
    sent: () => sent,
    settled: () => accepted + refused,
    accepted: () => accepted,
    delivered: () => delivered - deliveredBefore,
    report: (): LoadReport => {
      const { user, system } = process.cpuUsage(cpu);
      const seconds = (nowMicros() - startedMicros) / 1e6;
      const cpuMs = (user + system) / 1000;
      return { accepted, refused, delivered: delivered - deliveredBefore, seconds, cpuMs, accept: latency.take() };
    },
  };
}

/**
 * Publishes an open load: each event is sent when it is due, even if earlier ones are still in progress, and latency counts from its due
 * time.
 */
async function load({ perSecond, seconds, ...rest }: LoadOptions): Promise<LoadReport> {
  const run = createRun(rest);
  const total = Math.round(perSecond * seconds);
  while (run.sent() < total) {
    const due = Math.min(total, Math.floor(((nowMicros() - run.startedMicros) / 1e6) * perSecond));
    // The first event is due after one interval, because `due` counts the intervals that have passed.
    while (run.sent() < due) void run.publish(run.startedMicros + ((run.sent() + 1) / perSecond) * 1e6);
    await sleep(TICK_MS);
  }
  while (run.settled() < run.sent()) await sleep(TICK_MS);
  return run.report();
}

async function saturate({ seconds, inFlight, until, ...rest }: SaturationOptions): Promise<LoadReport> {
  const run = createRun(rest);
  const endMicros = run.startedMicros + seconds * 1e6;
  const ended = until === 'accept' ? run.settled : run.delivered;
  while (nowMicros() < endMicros) {
    while (run.sent() - ended() < inFlight) void run.publish(nowMicros());
    await new Promise((resolve) => setImmediate(resolve));
  }
  const report = run.report();
  while (run.settled() < run.sent()) await sleep(TICK_MS);
  return report;
}

/** Creates the subscriptions, so that this work is in no measurement. */
async function prepare(): Promise<void> {
  for (const [instanceId, url] of callbackUrls.entries())
    if (url !== null) await subscriptions.ensure(accountOf(instanceId), url);
  if (given.length === 0) return;
  await knex.transaction(async (trx) => {
    // Several senders start at once, and one of them creates the endpoints of all.
    await trx.raw('select pg_advisory_xact_lock(20)');
    if ((await trx('endpoint').first('name')) !== undefined) return;
    for (const endpoint of given) await endpoints.create(accountOf(0), endpoint);
  });
}

async function stop(): Promise<void> {
  await jobs.stop(1000);
  await events.stop(5000);
  await notifier.close();
  await egress.close();
  await database.close();
  setTimeout(() => process.exit(0), 50);
}

serve<SenderCommand>(async (command) => {
  switch (command.kind) {
    case 'prepare':
      return prepare();
    case 'load':
      return load(command.load);
    case 'saturate':
      return saturate(command.saturation);
    case 'stop':
      return stop();
  }
});
await notifier.start();
await events.start();
await jobs.start();
tell({ url: '' } satisfies ChildMessage);
