import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createNotifier, type Notifier } from '../../src/db/notifier.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { createMetrics } from '../../src/metrics.ts';
import { BUCKETS, createWorkBuckets, type WorkBuckets } from '../../src/work-buckets.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

/** A process, as far as it looks for due work. */
interface Worker {
  readonly buckets: WorkBuckets;
  readonly jobs: Jobs<never>;
  readonly notifier: Notifier;
  /** Number of times that it got more buckets. */
  gains: number;
  /** Calls that wait, as in a process that is stopped; undefined while it runs. */
  frozen: (() => void)[] | undefined;
}

describe('the hand-out of due work', function () {
  this.timeout(60_000);
  const database = useDatabase({ migrated: false });
  let workers: Worker[] = [];
  /** Number of living processes, as they count each other. */
  let living = 0;

  afterEach(async () => {
    await Promise.all(workers.map(({ jobs }) => jobs.stop(1_000)));
    await Promise.all(workers.map(({ notifier }) => notifier.close()));
    workers = [];
    living = 0;
    await database.knex.raw('truncate pgboss.job');
  });

  async function start(): Promise<Worker> {
    const buckets = createWorkBuckets();
    const ports = { knex: database.knex, log: silentLog, clock: SYSTEM_CLOCK };
    const notifier = createNotifier({ url: database.url, ...ports });
    await notifier.start();
    const metrics = createMetrics({ processMetrics: false });
    const hear = (call: () => void) => void (worker.frozen === undefined ? call() : worker.frozen.push(call));
    const clock = {
      ...SYSTEM_CLOCK,
      after: (ms: number, call: () => void) => SYSTEM_CLOCK.after(ms, () => hear(call)),
    };
    const handOut = { ...ports, clock, notifier, metrics, buckets, countWorkers: async () => living };
    const jobs = createJobs({ url: database.url, ...ports, role: 'worker', queues: {}, handOut });
    const worker: Worker = { buckets, jobs, notifier, gains: 0, frozen: undefined };
    buckets.onGained(() => worker.gains++);
    workers.push(worker);
    living++;
    await jobs.start();
    return worker;
  }

  async function stop(worker: Worker): Promise<void> {
    workers = workers.filter((one) => one !== worker);
    await worker.jobs.stop(1_000);
    await worker.notifier.close();
  }

  const sizes = () => workers.map(({ buckets }) => buckets.held().length).toSorted((one, other) => one - other);
  const all = () => workers.flatMap(({ buckets }) => buckets.held()).toSorted((one, other) => one - other);
  const EACH = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  const jobsOf = () => database.knex('pgboss.job').where({ name: 'work' }).select('state', 'singleton_key');

  it('gives everything to a process that is alone, before it is ready', async () => {
    const { buckets, gains } = await start();
    expect(buckets.held().toSorted((one, other) => one - other)).to.deep.equal(EACH);
    expect(gains).to.equal(1);
    expect(buckets.has(BUCKETS * 7 + 3)).to.equal(true);
    const jobs = await jobsOf();
    expect(jobs).to.have.length(BUCKETS);
    expect(new Set(jobs.map(({ state }) => state))).to.deep.equal(new Set(['active']));
  });

  it('shares fairly among processes that come and go, and nobody has what another has', async () => {
    await start();
    await start();
    await until(() => sizes().join() === '16,16');
    const third = await start();
    await until(() => sizes().join() === '10,11,11');
    expect(all()).to.deep.equal(EACH);
    // The living still count it, because it has not left yet.
    await stop(third);
    await until(() => sizes().join() === '16,16');
    expect(all()).to.deep.equal(EACH);
    expect(await jobsOf()).to.have.length(BUCKETS);
  });

  it('gives the part of a frozen process to the others, and it learns of that when it runs again', async () => {
    const [frozen, other] = [await start(), await start()];
    await until(() => sizes().join() === '16,16');
    frozen.frozen = [];
    await frozen.notifier.close();
    // As if time had passed.
    await database
      .knex('pgboss.job')
      .where({ name: 'work' })
      .whereIn('singleton_key', frozen.buckets.held().map(String))
      .update({ heartbeat_on: database.knex.raw("now() - interval '1 minute'") });
    living = 1;
    await until(() => other.buckets.held().length === BUCKETS);
    // Both look there now. The leases of the rows make that harmless.
    expect(frozen.buckets.held()).to.have.length(BUCKETS / 2);
    living = 2;
    const calls = frozen.frozen;
    frozen.frozen = undefined;
    for (const call of calls) call();
    await until(() => sizes().join() === '16,16' && all().join() === EACH.join());
  });

  it('makes jobs again that somebody has deleted', async () => {
    const { buckets } = await start();
    await database.knex('pgboss.job').where({ name: 'work' }).delete();
    await until(() => buckets.held().length === 0);
    await until(() => buckets.held().length === BUCKETS);
    expect(await jobsOf()).to.have.length(BUCKETS);
  });

  it('goes on when the database refuses for a while', async () => {
    const { buckets } = await start();
    await database.knex.raw('alter table pgboss.job rename column heartbeat_on to hidden');
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(buckets.held()).to.have.length(BUCKETS);
    await database.knex.raw('alter table pgboss.job rename column hidden to heartbeat_on');
    const newest = await start();
    await until(() => newest.buckets.held().length === BUCKETS / 2);
  });
});
