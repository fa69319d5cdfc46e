/**
 * Breaks what polling stands on, and counts what arrives: `npm run chaos:polling [-- --quick]`. Workers that poll 1,000 instances of a local
 * provider are killed again and again or stand still for longer than their leases, and PostgreSQL crashes, while records change at the
 * provider. Everything runs on loopback with a
 * database of its own, and ends by itself. Exit code 1: a promise was broken.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLoadDatabase } from '../event-load/postgres.ts';
import { addPolledInstances } from '../poll-load/instances.ts';
import type { ProviderReport } from '../poll-load/messages.ts';
import { startProvider, startWorker, type Worker } from '../poll-load/processes.ts';
import type { Promised } from './scenario.ts';

const LIMIT_MS = 240_000;
const WORKERS = 2;
const RECORDS = 5;
const LEASE_MS = 3_000;
const KILLS_BETWEEN_FREEZES = 2;
/** A change is seen so much later than its time says, at most. */
const MOST_LATE_MS = 2_000;
/** Many polls are in the middle of something whenever something breaks. */
const MOST_SLOW_MS = 500;
const DRAIN_MS = 60_000;
const LOOK_MS = 250;

const SIZES = {
  full: { instances: 1_000, intervalMs: 5_000, perSecond: 100, kills: 12, crashes: 2, secondsBetween: 4 },
  quick: { instances: 200, intervalMs: 2_000, perSecond: 40, kills: 4, crashes: 1, secondsBetween: 3 },
};

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const { instances, intervalMs, perSecond, kills, crashes, secondsBetween } = options.quick ? SIZES.quick : SIZES.full;
const limit = setTimeout(() => {
  console.error(`Not done within ${LIMIT_MS / 1000} s`);
  process.exit(1);
}, LIMIT_MS);

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-chaos-'));
const [database, provider] = await Promise.all([startLoadDatabase(), startProvider()]);
const { knex, url: databaseUrl, accountId } = database;
const encryptionKeys = `chaos:${randomBytes(32).toString('base64')}`;
const workers: Worker[] = [];
const startOne = () => startWorker({ databaseUrl, encryptionKeys, dataDir, leaseMs: LEASE_MS });

try {
  await provider.fill(instances, RECORDS);
  const same = { accountId, encryptionKeys, providerUrl: provider.url, byUrl: false };
  await addPolledInstances(knex, { ...same, count: instances, intervalMs, dueOverMs: intervalMs });
  for (let index = 0; index < WORKERS; index++) workers.push(await startOne());
  await until(async () => (await countPolls('kind is null')) === 0, 'every instance was polled once');

  await provider.begin({ perSecond, mostLateMs: MOST_LATE_MS, mostSlowMs: MOST_SLOW_MS });
  let crashed = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(secondsBetween * 1000);
    const victim = kill % WORKERS;
    if (kill % KILLS_BETWEEN_FREEZES === 0) await workers[(kill + 1) % WORKERS]?.freeze(1.5 * LEASE_MS);
    await workers[victim]?.kill();
    if (kill % Math.ceil(kills / (crashes + 1)) === 0 && crashed < crashes) {
      crashed++;
      await database.crash();
    }
    workers[victim] = await startOne();
  }
  await sleep(secondsBetween * 1000);
  await provider.end();

  const startedAtMs = performance.now();
  let report = await provider.report();
  while (report.missing > 0 && performance.now() - startedAtMs < DRAIN_MS) {
    await sleep(LOOK_MS);
    report = await provider.report();
  }
  const drainedSeconds = (performance.now() - startedAtMs) / 1000;
  // What is accepted twice comes with the polls after, and is delivered by then.
  await sleep(2 * intervalMs);
  report = await provider.report();
  const results = promises(report, { crashed, failing: await countPolls('failures > 0') });
  console.log(
    `${drainedSeconds.toFixed(1)} s after the last change nothing more was waited for; ${report.repeated} deliveries were repeated.`,
  );
  console.table(results.map(({ kept, promise, found }) => ({ kept: kept ? 'yes' : 'NO', promise, found })));
  process.exitCode = results.every(({ kept }) => kept) ? 0 : 1;
} finally {
  for (const worker of workers) await worker.kill();
  await provider.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
  clearTimeout(limit);
}

function promises(
  { changes, missing, acceptedTwice, unknown }: ProviderReport,
  { crashed, failing }: { readonly crashed: number; readonly failing: number },
): readonly Promised[] {
  return [
    {
      promise: `${kills} SIGKILLs and ${Math.floor(kills / KILLS_BETWEEN_FREEZES)} freezes of workers, ${crashes} crashes of PostgreSQL: every change has its event`,
      found: `${changes} changes, ${missing} without`,
      kept: missing === 0 && changes > 0 && crashed === crashes,
    },
    {
      promise: 'no version of a record is accepted twice',
      found: `${acceptedTwice} with several events`,
      kept: acceptedTwice === 0,
    },
    {
      promise: 'no event of what was there before, or never',
      found: `${unknown} such deliveries`,
      kept: unknown === 0,
    },
    { promise: 'no poll fails at the end', found: `${failing} failing`, kept: failing === 0 },
  ];
}

async function countPolls(which: string): Promise<number> {
  const { rows } = await knex.raw(`select count(*)::int as count from poll where ${which}`);
  return rows[0].count;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAtMs = performance.now() + DRAIN_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`Not within ${DRAIN_MS / 1000} s: ${what}`);
    await sleep(LOOK_MS);
  }
}
