/**
 * Measures how late polls begin when several workers share them: `npm run bench:due-work [-- --pollers 20000 --interval 60 --workers 4
 * --seconds 30]`. First each worker looks for all due polls, and then only in its part of the buckets. The provider responds at once and has
 * no changes, so that looking is what costs. All workers run in this process, over a PostgreSQL server of their own on loopback, or over the
 * cluster of `.ci/with-citus`. Before, it measures what the heartbeats of the hand-out write while nothing is due. Ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createNotifier } from '../../src/db/notifier.ts';
import type { Instance } from '../../src/instances/instance.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { SYSTEM_RANDOM } from '../../src/platform.ts';
import { createPollStore, type PollStore } from '../../src/polls/poll-store.ts';
import { createPoller, POLLER_OPTIONS, type PollerPorts } from '../../src/polls/poller.ts';
import { createWorkBuckets } from '../../src/work-buckets.ts';
import { ALL_BUCKETS } from '../../test/support/buckets.ts';
import { addUser } from '../../test/support/event-rows.ts';
import { addPolled, NEWEST, POLLS_THINGS, THINGS } from '../../test/support/polled-things.ts';
import { keepRuns, prepareNoNotice } from '../../test/support/runs.ts';
import { type LoadDatabase, startLoadDatabase } from '../event-load/postgres.ts';
import { describeMachine, quantile, readNumbers, round } from './measure.ts';

const options = readNumbers({ pollers: 20_000, interval: 60, workers: 4, seconds: 30 });
const { pollers, interval: intervalSeconds, workers, seconds } = options;
const ACCOUNTS = 100;
const SETTLE_SECONDS = 5;
const IDLE_SECONDS = 20;
const POOL_SIZE = 10;
const log = createLogger({ level: 'error' });

const database = await startLoadDatabase({ accounts: ACCOUNTS });
try {
  // First, because what follows leaves work for the cleaning of the database.
  const idle = await measureIdle();
  await addPollers(database);
  const lines = {
    'each worker looks everywhere': await measure(() => ALL_BUCKETS.held()),
    'each worker looks in its part': await measure((worker) =>
      ALL_BUCKETS.held().filter((bucket) => bucket % workers === worker),
    ),
  };
  console.log(`${pollers} polls each ${intervalSeconds} s, ${workers} workers, ${seconds} s`);
  console.table(lines);
  console.table(idle);
  console.log({ ...describeMachine(), isDistributed: database.isDistributed });
} finally {
  await database.stop();
}

/** Adds instances whose polls become due within one interval. */
async function addPollers({ knex, accountIds }: LoadDatabase): Promise<void> {
  const times = { intervalMs: intervalSeconds * 1000, dueMs: Date.now(), spreadMs: intervalSeconds * 1000 };
  for (const accountId of accountIds) {
    await addUser(knex, accountId);
    await addPolled(knex, { accountId, count: pollers / ACCOUNTS, ...times });
  }
}

async function measure(bucketsOf: (worker: number) => readonly number[]): Promise<Record<string, number>> {
  const late: number[] = [];
  let claims = 0;
  const started = Array.from({ length: workers }, (_, worker) => {
    const pool = openDatabase({ url: database.url, poolSize: POOL_SIZE, log });
    const whole = createPollStore(pool.knex);
    const store: PollStore = {
      ...whole,
      claim: (claim) => {
        claims++;
        return whole.claim(claim);
      },
    };
    const buckets = createWorkBuckets();
    buckets.set(new Set(bucketsOf(worker)));
    const poller = createPoller(
      { clock: SYSTEM_CLOCK, log, random: SYSTEM_RANDOM, buckets },
      {
        store,
        getInstances: async (keys) =>
          keys.map((key) => ({ ...key, config: POLLS_THINGS, connector: { objects: {} } }) as unknown as Instance),
        resources: {
          getObject: async () => THINGS,
          mappingVersionOf: async () => undefined,
          rateLimitOf: () => undefined,
          listRecords: async () => ({ records: [NEWEST], pushdown: 'full', providerCalls: 1 }),
        } as unknown as PollerPorts['resources'],
        prepare: async () => ({ insert: async () => undefined, committed: () => undefined }),
        prepareNotice: prepareNoNotice,
        openRun: keepRuns(),
        noteStopped: () => undefined,
        measures: { started: (lateSeconds) => void late.push(lateSeconds), ended: () => undefined },
        options: POLLER_OPTIONS,
      },
    );
    poller.start();
    return { poller, pool };
  });
  await sleep(SETTLE_SECONDS * 1000);
  late.length = 0;
  claims = 0;
  const [cpuMs, ownCpu] = [await database.cpuMs(), process.cpuUsage()];
  await sleep(seconds * 1000);
  const { user, system } = process.cpuUsage(ownCpu);
  const used = (await database.cpuMs()) - cpuMs;
  const runs = [...late];
  for (const { poller, pool } of started) {
    await poller.stop();
    await pool.close();
  }
  const at = (share: number) => Math.round(quantile(runs, share) * 1000);
  return {
    'runs/s': Math.round(runs.length / seconds),
    'late p50 ms': at(0.5),
    'late p95 ms': at(0.95),
    'late p99 ms': at(0.99),
    'claims/s': Math.round(claims / seconds),
    'CPU of the database, %': Math.round(used / seconds / 10),
    'CPU of the workers, %': Math.round((user + system) / 1000 / seconds / 10),
  };
}

async function measureIdle(): Promise<Record<string, number>> {
  const { knex, url } = database;
  const notifier = createNotifier({ url, knex, log });
  await notifier.start();
  const metrics = createMetrics({ processMetrics: false });
  const handOut = {
    buckets: createWorkBuckets(),
    countWorkers: async () => 1,
    notifier,
    metrics,
    clock: SYSTEM_CLOCK,
    log,
  };
  const jobs = createJobs({ url, log, clock: SYSTEM_CLOCK, role: 'worker', queues: {}, handOut });
  await jobs.start();
  await sleep(SETTLE_SECONDS * 1000);
  const [walBytes, cpuMs] = [await database.walBytes(), await database.cpuMs()];
  await sleep(IDLE_SECONDS * 1000);
  const written = (await database.walBytes()) - walBytes;
  const used = (await database.cpuMs()) - cpuMs;
  await jobs.stop(1_000);
  await notifier.close();
  return {
    'write-ahead log of heartbeats, kB/min': Math.round((written / IDLE_SECONDS) * 60 * 0.001),
    'CPU of the database, %': round(used / IDLE_SECONDS / 10),
  };
}
