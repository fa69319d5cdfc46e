import { type JobResult, type JobWithMetadata, PgBoss } from 'pg-boss';
import type { Clock } from '../clock.ts';
import type { Role } from '../config/index.ts';
import { assertNever } from '../errors.ts';
import type { Logger } from '../log.ts';
import { createHandOut, type HandOutPorts } from './hand-out.ts';
import type { JobOutcome, Queue, Queues } from './queues.ts';

interface JobsOptions<Table extends Queues> {
  readonly url: string;
  readonly log: Logger;
  readonly queues: Table;
  /** Role of the process: `api` only sends jobs; `worker` and `all` also run, schedule and clean up. */
  readonly role: Role;
  readonly clock: Clock;
  /** Ports of the hand-out of due work. Without them, this process gets no buckets. */
  readonly handOut?: Omit<HandOutPorts, 'boss'> | undefined;
  /** Maximum number of connections to PostgreSQL. Default 4. */
  readonly poolSize?: number;
}

interface SendOptions {
  /** Delay in milliseconds. Default: none. */
  readonly delayMs?: number;
}

export interface Jobs<Name extends string> {
  readonly start: () => Promise<void>;
  /** Starts no more jobs and lets running ones end. After `timeoutMs` they are aborted and retried later. */
  readonly stop: (timeoutMs: number) => Promise<void>;
  /**
   * Sends a job.
   * @returns the id of the job
   */
  readonly send: (name: Name, data?: object, options?: SendOptions) => Promise<string>;
  readonly isReachable: () => Promise<boolean>;
}

const SCHEMA = 'pgboss';
const DEFAULT_TIMEOUT_SECONDS = 900;
const DEFAULT_POLLING_SECONDS = 2;
/** Seconds between two looks for jobs whose process is silent or whose time is over. */
const SUPERVISE_SECONDS = 5;

/** Creates the background jobs on pg-boss. Nothing outside this folder depends on pg-boss. */
export function createJobs<const Table extends Queues>(options: JobsOptions<Table>): Jobs<keyof Table & string> {
  const { url, log, queues, role, clock, handOut: given, poolSize = 4 } = options;
  const works = role !== 'api';
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    max: poolSize,
    application_name: 'causeway jobs',
    supervise: works,
    schedule: works,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  });
  boss.on('error', (error) => log.error({ err: error }, 'the job queue failed'));
  boss.on('warning', (warning) => log.warn({ warning }, 'the job queue reported a warning'));
  const handOut = works && given !== undefined ? createHandOut({ boss, ...given }) : undefined;

  return {
    start: async () => {
      await boss.start();
      const declared = Object.entries(queues).map(async ([name, queue]) => {
        await declareQueue(boss, name, queue);
        if (!works) return;
        await declareSchedule(boss, name, queue);
        await startWorker(boss, log, name, queue);
      });
      await Promise.all(declared);
      await handOut?.start();
    },
    stop: async (timeoutMs) => {
      await handOut?.stop();
      await drainWorkers(boss, Object.keys(queues), { clock, timeoutMs });
      await boss.stop({ graceful: false });
    },
    send: async (name, data = {}, { delayMs = 0 } = {}) => {
      const id = await boss.send(name, data, startingAfter(delayMs));
      if (id === null) throw new Error(`The queue ${name} did not accept a job`);
      return id;
    },
    isReachable: async () => {
      try {
        await boss.getDb().executeSql('select 1');
        return true;
      } catch (error) {
        log.warn({ err: error }, 'could not reach the job queue');
        return false;
      }
    },
  };
}

/** The table in the code wins over what an older version left in the database. */
async function declareQueue(boss: PgBoss, name: string, queue: Queue): Promise<void> {
  const settings = {
    retryLimit: queue.retry.limit,
    retryDelay: queue.retry.delaySeconds,
    retryBackoff: true,
    retryDelayMax: queue.retry.maxDelaySeconds,
    expireInSeconds: queue.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
  };
  await boss.createQueue(name, settings);
  await boss.updateQueue(name, settings);
}

function declareSchedule(boss: PgBoss, name: string, { schedule }: Queue): Promise<void> {
  return schedule === undefined ? boss.unschedule(name) : boss.schedule(name, schedule, {}, { tz: 'UTC' });
}

async function startWorker(boss: PgBoss, log: Logger, name: string, queue: Queue): Promise<void> {
  const options = {
    batchSize: 1,
    includeMetadata: true,
    perJobResults: true,
    localConcurrency: queue.concurrency ?? 1,
    pollingIntervalSeconds: queue.pollingSeconds ?? DEFAULT_POLLING_SECONDS,
  } as const;
  await boss.work<unknown, unknown, typeof options>(name, options, (jobs) =>
    Promise.all(
      jobs.map(async (job) => {
        const outcome = await runJob(log.child({ queue: name, jobId: job.id }), queue, job);
        return settle(boss, job, outcome);
      }),
    ),
  );
}

/** pg-boss's own graceful stop looks every 500 ms whether the workers are done; this one hears it. */
async function drainWorkers(
  boss: PgBoss,
  names: readonly string[],
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const endWait = clock.after(timeoutMs, timeout.resolve);
  const workers = Promise.all(names.map((name) => boss.offWork(name, { wait: true })));
  await Promise.race([workers, timeout.promise]).finally(endWait);
}

async function runJob(log: Logger, queue: Queue, job: JobWithMetadata<unknown>): Promise<JobOutcome> {
  // A postponed job has its used attempts taken off its own limit, see `postpone`.
  const attempt = queue.retry.limit - job.retryLimit + job.retryCount + 1;
  try {
    return await queue.handle({ id: job.id, data: job.data, attempt, signal: job.signal });
  } catch (error) {
    log.error({ err: error, attempt }, 'a job failed');
    return { kind: 'retry', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function settle(boss: PgBoss, job: JobWithMetadata<unknown>, outcome: JobOutcome): Promise<JobResult> {
  switch (outcome.kind) {
    case 'done':
      return { id: job.id, status: 'completed' };
    case 'retry':
      return { id: job.id, status: 'failed', output: { reason: outcome.reason } };
    case 'dead':
      return { id: job.id, status: 'deadletter', output: { reason: outcome.reason } };
    case 'later':
      await postpone(boss, job, outcome.ms);
      return { id: job.id, status: 'completed' };
    default:
      return assertNever(outcome);
  }
}

/** pg-boss cannot postpone a running job, so another job replaces it in one transaction: it is never lost and never runs twice. */
async function postpone(boss: PgBoss, job: JobWithMetadata<unknown>, delayMs: number): Promise<void> {
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new Error('This connection of pg-boss has no transactions');
  try {
    const { db } = transaction;
    const claim = { id: job.id, retryCount: job.retryCount };
    const completed = await boss.complete(job.name, claim, { postponedByMs: delayMs }, { db });
    if (!isClaimLost(completed)) {
      const retryLimit = job.retryLimit - job.retryCount;
      await boss.send(job.name, toData(job.data), { ...startingAfter(delayMs), retryLimit, db });
    }
    await transaction.commit();
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** Another worker has the job by now, since this one ran out of time: the job is that one's to put off. */
function isClaimLost(completed: object): boolean {
  return 'affected' in completed && completed.affected === 0;
}

function toData(data: unknown): object {
  return typeof data === 'object' && data !== null ? data : {};
}

/** A number is seconds by the clock of the database, which all processes share. */
function startingAfter(delayMs: number): { readonly startAfter?: number } {
  return delayMs > 0 ? { startAfter: delayMs / 1000 } : {};
}
