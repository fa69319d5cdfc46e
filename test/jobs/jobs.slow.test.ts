import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import type { Job, JobOutcome, Queue, Queues } from '../../src/jobs/queues.ts';
import { createLogger } from '../../src/log.ts';
import { silentLog, useDatabase } from '../support/database.ts';

const QUICK = { pollingSeconds: 0.5, retry: { limit: 2, delaySeconds: 0, maxDelaySeconds: 1 } } as const;

describe('createJobs', function () {
  this.timeout(30_000);
  const database = useDatabase({ migrated: false });
  const running: Jobs<string>[] = [];

  afterEach(async () => {
    await Promise.all(running.splice(0).map((jobs) => jobs.stop(1000)));
    await database.knex.raw('truncate pgboss.job, pgboss.schedule');
  });

  async function start<const Table extends Queues>(
    queues: Table,
    options: { role?: 'all' | 'api'; log?: typeof silentLog } = {},
  ) {
    const jobs = createJobs({
      url: database.url,
      log: silentLog,
      clock: SYSTEM_CLOCK,
      role: 'all',
      queues,
      ...options,
    });
    running.push(jobs);
    await jobs.start();
    return jobs;
  }

  /** A queue that answers its runs with these outcomes, in turn, and tells what it was given. */
  function scripted(...outcomes: readonly (JobOutcome | Error)[]) {
    const runs: Pick<Job, 'data' | 'attempt'>[] = [];
    const finished = Promise.withResolvers<void>();
    const queue: Queue = {
      ...QUICK,
      handle: async ({ data, attempt }) => {
        runs.push({ data, attempt });
        if (runs.length === outcomes.length) finished.resolve();
        const outcome = outcomes[runs.length - 1] ?? { kind: 'dead', reason: 'unexpected run' };
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    };
    return { runs, queue, finished: finished.promise };
  }

  async function jobsOf(name: string, states: readonly string[]) {
    return database.knex('pgboss.job').where({ name }).whereIn('state', states).orderBy('created_on');
  }

  async function untilSettled(name: string): Promise<void> {
    while ((await jobsOf(name, ['created', 'retry', 'active'])).length > 0);
  }

  /** Runs a job of this queue until nothing is left to do. */
  async function runToEnd(
    name: string,
    { queue, finished }: Pick<ReturnType<typeof scripted>, 'queue' | 'finished'>,
    { data, log }: { readonly data?: object; readonly log?: typeof silentLog } = {},
  ): Promise<void> {
    const jobs = await start({ [name]: queue }, { ...(log !== undefined && { log }) });
    await jobs.send(name, data);
    await finished;
    await untilSettled(name);
  }

  it('runs a job once, with its data', async () => {
    const { runs, ...script } = scripted({ kind: 'done' });
    await runToEnd('test.done', script, { data: { accountId: 1 } });
    expect(runs).to.deep.equal([{ data: { accountId: 1 }, attempt: 1 }]);
    expect(await jobsOf('test.done', ['completed'])).to.have.length(1);
  });

  it('tries again what asks for it or fails, up to the limit of the queue, and keeps the last reason', async () => {
    const { runs, ...script } = scripted({ kind: 'retry', reason: 'busy' }, new Error('broken'), {
      kind: 'retry',
      reason: 'still busy',
    });
    await runToEnd('test.retry', script);
    expect(runs.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3]);
    const [failed] = await jobsOf('test.retry', ['failed']);
    expect(failed.output).to.deep.equal({ reason: 'still busy' });
  });

  it('logs the error of a handler that throws', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'error', destination: { write: (line) => lines.push(line) } });
    const { queue, finished } = scripted(new Error('the cause of it all'));
    const once = { ...queue, retry: { ...QUICK.retry, limit: 0 } };
    await runToEnd('test.throws', { queue: once, finished }, { log });
    expect(lines.map((line) => JSON.parse(line))).to.have.nested.property('[0].err.message', 'the cause of it all');
    expect(JSON.parse(lines[0] ?? '')).to.include({ queue: 'test.throws', msg: 'a job failed' });
  });

  it('does not try again what is dead, and keeps the reason', async () => {
    const { runs, ...script } = scripted({ kind: 'dead', reason: 'the instance is gone' });
    await runToEnd('test.dead', script);
    expect(runs).to.have.length(1);
    const [failed] = await jobsOf('test.dead', ['failed']);
    expect(failed.output).to.deep.equal({ reason: 'the instance is gone' });
  });

  it('puts a job off without using an attempt, however often, and without giving any back', async () => {
    const later = { kind: 'later', ms: 1 } as const;
    const { runs, ...script } = scripted(later, later, { kind: 'retry', reason: 'busy' }, later, {
      kind: 'dead',
      reason: 'enough',
    });
    await runToEnd('test.later', script, { data: { accountId: 1 } });
    expect(runs.map(({ attempt }) => attempt)).to.deep.equal([1, 1, 1, 2, 2]);
    expect(runs.every(({ data }) => JSON.stringify(data) === '{"accountId":1}')).to.equal(true);
    expect(await jobsOf('test.later', ['failed'])).to.have.length(1);
  });

  it('puts a job off for the time that was asked for', async () => {
    const { queue, finished } = scripted({ kind: 'later', ms: 3_600_000 });
    const jobs = await start({ 'test.later': queue });
    await jobs.send('test.later');
    await finished;
    while ((await jobsOf('test.later', ['completed'])).length === 0);
    const waiting = await jobsOf('test.later', ['created']);
    expect(waiting).to.have.length(1);
    const waitMs = waiting[0].start_after.getTime() - Date.now();
    expect(waitMs).to.be.within(3_500_000, 3_600_000);
  });

  it('does not work in a process of role api, which only sends', async () => {
    const api = scripted();
    const { runs, queue, finished } = scripted({ kind: 'done' });
    const sender = await start({ 'test.role': api.queue }, { role: 'api' });
    await sender.send('test.role', { sent: true });
    // A worker looks for jobs as soon as it starts: this one would find the job before the next process is there.
    await start({ 'test.role': api.queue }, { role: 'api' });
    await start({ 'test.role': queue });
    await finished;
    expect(runs).to.deep.equal([{ data: { sent: true }, attempt: 1 }]);
    expect(api.runs).to.deep.equal([]);
  });

  it('starts in several processes at once and schedules once', async () => {
    const queue: Queue = { ...QUICK, schedule: '7 * * * *', handle: async () => ({ kind: 'done' }) };
    await Promise.all([1, 2, 3].map(() => start({ 'test.schedule': queue })));
    const schedules = await database.knex('pgboss.schedule').select('name', 'cron', 'timezone');
    expect(schedules).to.deep.equal([{ name: 'test.schedule', cron: '7 * * * *', timezone: 'UTC' }]);
  });

  it('takes the settings of the code over those an older version left', async () => {
    const queue: Queue = { ...QUICK, schedule: '7 * * * *', handle: async () => ({ kind: 'done' }) };
    const stored = async () => [
      await database.knex('pgboss.queue').where({ name: 'test.settings' }).first('retry_limit'),
      await database.knex('pgboss.schedule').first('cron'),
    ];
    await start({ 'test.settings': queue });
    expect(await stored()).to.deep.equal([{ retry_limit: 2 }, { cron: '7 * * * *' }]);
    await start({ 'test.settings': { ...queue, schedule: '9 * * * *', retry: { ...QUICK.retry, limit: 5 } } });
    expect(await stored()).to.deep.equal([{ retry_limit: 5 }, { cron: '9 * * * *' }]);
    await start({ 'test.settings': { ...QUICK, handle: queue.handle } });
    expect(await stored()).to.deep.equal([{ retry_limit: 2 }, undefined]);
  });

  it('waits at a stop for the job that runs', async () => {
    const began = Promise.withResolvers<void>();
    const handle = async ({ signal }: Job): Promise<JobOutcome> => {
      began.resolve();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return signal.aborted ? { kind: 'dead', reason: 'aborted' } : { kind: 'done' };
    };
    const jobs = await start({ 'test.stop': { ...QUICK, handle } });
    await jobs.send('test.stop');
    await began.promise;
    await jobs.stop(20_000);
    expect(await jobsOf('test.stop', ['completed'])).to.have.length(1);
  });

  it('aborts at a stop what does not end in time, and leaves it to be tried again', async () => {
    const began = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<JobOutcome>();
    const handle = ({ signal }: Job): Promise<JobOutcome> => {
      signal.addEventListener('abort', () => aborted.resolve({ kind: 'done' }));
      began.resolve();
      return aborted.promise;
    };
    const jobs = await start({ 'test.abort': { ...QUICK, handle } });
    await jobs.send('test.abort');
    await began.promise;
    await jobs.stop(50);
    expect(await aborted.promise).to.deep.equal({ kind: 'done' });
    expect(await jobsOf('test.abort', ['retry'])).to.have.length(1);
  });

  it('is reachable while it runs', async () => {
    const jobs = await start({ 'test.reach': scripted().queue });
    expect(await jobs.isReachable()).to.equal(true);
    await jobs.stop(1000);
    expect(await jobs.isReachable()).to.equal(false);
  });
});
