import type { OpenRun, Run } from '../activity/runs.ts';
import { isAppError } from '../errors.ts';
import { type ClaimedWorkOptions, createClaimedWork } from '../events/claimed-work.ts';
import { every } from '../events/timers.ts';
import type { InstanceKey } from '../instances/instance.ts';
import { behindCallers } from '../pace.ts';
import type { Platform } from '../platform.ts';
import type { BulkMetrics } from './bulk-metrics.ts';
import type { BulkStore, Postponement } from './bulk-store.ts';
import { type DownloadOptions, type DownloadPorts, download } from './download.ts';
import { type EndPorts, endJob } from './end-job.ts';
import type { CallCount } from './file-writer.ts';
import { type ForgetPorts, forgetNative, type NativeEndHow, type NativeOwner } from './forget-native.ts';
import { type ClaimedJob, type JobFault, type JobKey, JobLost } from './job.ts';
import { MOST_WAITS, type SliceInput } from './slice.ts';
import { type UploadOptions, type UploadPorts, upload } from './upload.ts';

export interface WorkerOptions extends ClaimedWorkOptions, DownloadOptions, UploadOptions {
  /**
   * Milliseconds before the first retry of a failing job. The delay doubles with each retry up to `longestBackoffMs`.
   */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** Milliseconds without progress after which a job fails, when its provider is down. */
  readonly patienceMs: number;
  /** Milliseconds without progress after which a job fails, for unexpected errors. */
  readonly bewilderedMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const WORKER_OPTIONS: WorkerOptions = {
  concurrency: 4,
  lookMs: 5_000,
  leaseMs: 30_000,
  sliceMs: 30_000,
  storeMs: 10_000,
  chunkBytes: 2 * 1024 * 1024,
  batchRows: 32,
  batchBytes: 4 * 1024 * 1024,
  batchWidth: 4,
  rowTries: 5,
  firstBackoffMs: 2_000,
  longestBackoffMs: 5 * MINUTE_MS,
  patienceMs: 6 * HOUR_MS,
  bewilderedMs: 10 * MINUTE_MS,
};

export interface WorkerPorts
  extends Pick<EndPorts, 'prepare' | 'getInstance' | 'noteEnded'>,
    Pick<UploadPorts, 'shares'> {
  readonly resources: DownloadPorts['resources'] & UploadPorts['resources'] & ForgetPorts['resources'];
  readonly store: BulkStore;
  /** Returns whether the user may currently act in the account. */
  readonly mayAct: (user: { readonly accountId: number; readonly userId: number }) => Promise<boolean>;
  readonly openRun: OpenRun;
  readonly measures: BulkMetrics;
  /** Milliseconds for which a job and its file are kept, whether it has ended or not. */
  readonly retentionMs: number;
  readonly options: WorkerOptions;
}

export type BulkWorker = ReturnType<typeof createBulkWorker>;

const SLICES = { DOWNLOAD: download, UPLOAD: upload } as const;

/** Within the time of a lease it is renewed so often. */
const RENEWALS = 3;

interface Running {
  readonly job: ClaimedJob;
  readonly broken: AbortController;
  /** Ends the turn: rows that are being written come to their end. */
  readonly ended: AbortController;
  /** Until when no other process has the job, on the steady clock. */
  leasedUntilMs: number;
}

/** Creates the worker that runs due jobs. Each job runs in one process at a time. */
export function createBulkWorker(
  { clock, log, random, buckets }: Pick<Platform, 'clock' | 'log' | 'random' | 'buckets'>,
  {
    store,
    resources,
    shares,
    prepare,
    getInstance,
    noteEnded,
    mayAct,
    openRun,
    measures,
    retentionMs,
    options,
  }: WorkerPorts,
) {
  const running = new Set<Running>();
  const ending: EndPorts = { store, clock, prepare, getInstance, noteEnded };
  const stopping = new AbortController();
  const dueJobs = createClaimedWork<ClaimedJob>({
    ...{ clock, buckets, options, store, signal: stopping.signal },
    work: async (job) => {
      const leasedUntilMs = clock.steady() + options.leaseMs;
      const one: Running = { job, broken: new AbortController(), ended: new AbortController(), leasedUntilMs };
      running.add(one);
      await behindCallers(() => run(one)).finally(() => running.delete(one));
    },
    noteFailure: (error) => log.warn({ err: error }, 'could not look for due bulk jobs; trying again'),
  });
  let endRenewals: (() => Promise<void>) | undefined;

  /** Renews the leases, because a step may take longer with a slow provider. It aborts jobs whose lease was lost. */
  async function renew(): Promise<void> {
    const all = [...running];
    if (all.length === 0) return;
    try {
      // Counts from before the statement, because the response of the database may be late.
      const leasedUntilMs = clock.steady() + options.leaseMs;
      const leaseUntil = new Date(clock.now() + options.leaseMs);
      const jobs = all.map(({ job }) => job);
      const ours = await store.renew(jobs, leaseUntil);
      for (const one of all) {
        if (ours.has(one.job.lease)) one.leasedUntilMs = leasedUntilMs;
        else one.broken.abort(new JobLost());
      }
      // The next turn says so.
      for (const { job, ended } of all)
        if (!(await isAllowed(job))) ended.abort(new Error('Its user may no longer work in the account.'));
    } catch (error) {
      log.warn(
        { err: error, jobs: all.length },
        'could not renew the leases of bulk jobs; other processes may take them over',
      );
    }
  }

  /** Runs a job. Never rejects. */
  async function run(one: Running): Promise<void> {
    const { job, broken, ended } = one;
    const writeSignal = broken.signal;
    const signal = AbortSignal.any([writeSignal, ended.signal, stopping.signal]);
    const mayWrite = () => {
      if (clock.steady() >= one.leasedUntilMs) ended.abort(new Error('The lease is over.'));
      return !signal.aborted;
    };
    const calls: CallCount = { providerCalls: 0, rows: 0 };
    const { accountId, instanceId, userId, id } = job;
    const isOverdue = job.waits >= MOST_WAITS;
    const path = `/bulk/${id}/status`;
    const activityRun = openRun({ kind: 'bulk', accountId, userId, instanceId, path, isOverdue });
    const end = ({ isDone = false, fault }: Partial<SliceResult> = {}) =>
      activityRun.end({ isReported: isDone || calls.rows > 0, rows: calls.rows, fault });
    try {
      end(await activityRun.within(() => runSlice(job, { activityRun, signal, writeSignal, mayWrite }, calls)));
    } catch (error) {
      if (error instanceof JobLost || signal.reason instanceof JobLost) {
        end();
        return measures.ended('lost');
      }
      try {
        end(await activityRun.within(() => endWith(error, { job, activityRun, signal, calls })));
      } catch (failure) {
        end({ fault: activityRun.faultOf(error) });
        measures.ended('lost');
        const what = 'could not store the outcome of a slice; the bulk job continues when its lease expires';
        if (!(failure instanceof JobLost)) log.warn({ err: failure, accountId, jobId: id }, what);
      }
    }
  }

  async function runSlice(
    job: ClaimedJob,
    { activityRun, ...signals }: SliceSignals,
    calls: CallCount,
  ): Promise<SliceResult> {
    if (clock.now() >= job.createdAt.getTime() + retentionMs) return fail(job, TOO_OLD, calls);
    if (!(await isAllowed(job))) return fail(job, notAllowed(job), calls);
    const instance = await getInstance(job.accountId, job.instanceId);
    activityRun.attach(instance);
    const ports = { store, resources, shares, clock, options, forget };
    const end = await SLICES[job.direction](ports, { job, instance, ...signals }, calls);
    if (end.kind === 'later') {
      measures.ended(end.isWait ? 'waited' : 'continued');
      await postpone(job, { dueMs: clock.now() + end.afterMs, hasWaited: end.isWait, calls });
      return { isDone: false };
    }
    await endJob(ending, job, { last: end.last, fault: end.fault });
    measures.ended(end.fault === undefined ? 'completed' : 'failed');
    await forget(job, { isDone: true });
    return { isDone: true, fault: end.fault };
  }

  /** Returns whether the job may continue. A job of an earlier release has no user and is always allowed. */
  async function isAllowed({ accountId, userId }: ClaimedJob): Promise<boolean> {
    return userId === null || mayAct({ accountId, userId });
  }

  function forget(job: NativeOwner, how: NativeEndHow = { isDone: false }): Promise<void> {
    return forgetNative({ resources, getInstance, clock, log }, job, how);
  }

  async function endWith(error: unknown, { job, activityRun, signal, calls }: FailedSlice): Promise<SliceResult> {
    const nowMs = clock.now();
    // It is this service that stops, or has no room.
    if (signal.aborted || isAppError(error, 'OVERLOADED')) {
      measures.ended('continued');
      const waitSeconds = !signal.aborted && isAppError(error) ? (error.retryAfterSeconds ?? 1) : 0;
      await postpone(job, { dueMs: nowMs + waitSeconds * 1000, hasWaited: false, calls });
      return { isDone: false };
    }
    const current = (await store.find(job)) ?? job;
    const fault = activityRun.faultOf(error);
    log.warn(
      { err: error, reason: fault.message, accountId: job.accountId, jobId: job.id },
      'a slice of a bulk job failed',
    );
    const failingMs = nowMs - (current.failingSince?.getTime() ?? nowMs);
    if (failingMs >= patienceMs(error)) return fail(job, faultOf(error), calls);
    measures.ended('failed');
    const dueMs = nowMs + backoffMs(current.failures, error);
    await postpone(job, { dueMs, hasWaited: false, calls, failedAt: new Date(nowMs) });
    return { isDone: false, fault };
  }

  async function fail(job: ClaimedJob, fault: JobFault, { providerCalls }: CallCount): Promise<SliceResult> {
    await endJob(ending, job, { fault, providerCalls });
    measures.ended('failed');
    await forget(job);
    return { isDone: true, fault };
  }

  function postpone(job: ClaimedJob, { dueMs, calls, ...how }: Later): Promise<void> {
    return store.postpone(job, { ...how, due: new Date(dueMs), providerCalls: calls.providerCalls });
  }

  /** Returns the milliseconds for which a job may continue to fail: 0 where retries are useless. */
  function patienceMs(error: unknown): number {
    if (isAppError(error, ...PASSING)) return options.patienceMs;
    return !isAppError(error) || isAppError(error, ...BEWILDERING) ? options.bewilderedMs : 0;
  }

  /** Returns the wait that the provider requests; otherwise twice as long with each failure. */
  function backoffMs(failures: number, error: unknown): number {
    const asked = isAppError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const doubled = Math.min(options.firstBackoffMs * 2 ** Math.min(failures, 20), options.longestBackoffMs);
    return Math.max(asked, doubled * (1 + JITTER * random.fraction()));
  }

  return {
    start: () => {
      endRenewals = every(clock, options.leaseMs / RENEWALS, renew);
      dueJobs.start();
    },
    /** Checks for due jobs at once. */
    wake: dueJobs.look,
    /** Aborts a job that was cancelled or deleted. */
    drop: ({ accountId, id }: JobKey) => {
      for (const { job, broken } of running)
        if (job.accountId === accountId && job.id === id) broken.abort(new JobLost());
    },
    /** Aborts the jobs of an instance that has changed. */
    refresh: ({ accountId, id }: InstanceKey) => {
      for (const { job, broken } of running)
        if (job.accountId === accountId && job.instanceId === id) broken.abort(new Error('The instance changed.'));
    },
    /**
     * Starts no more jobs, aborts those in progress, and releases them. Rows that are being written may end within the given time; rows
     * that are aborted may have been written.
     */
    stop: async (timeoutMs: number) => {
      const reason = new Error('The service is stopping.');
      stopping.abort(reason);
      await dueJobs.endLooks();
      const endWait = clock.after(timeoutMs, () => {
        for (const { broken } of running) broken.abort(reason);
      });
      await dueJobs.done();
      endWait();
      await endRenewals?.();
    },
  };
}

interface SliceSignals extends Pick<SliceInput, 'signal' | 'writeSignal' | 'mayWrite'> {
  readonly activityRun: Run;
}

interface FailedSlice extends Pick<SliceSignals, 'activityRun' | 'signal'> {
  readonly job: ClaimedJob;
  readonly calls: CallCount;
}

/** The result of a slice. */
interface SliceResult {
  readonly isDone: boolean;
  readonly fault?: JobFault | undefined;
}

interface Later extends Pick<Postponement, 'failedAt' | 'hasWaited'> {
  readonly dueMs: number;
  readonly calls: CallCount;
}

const JITTER = 0.1;

const TOO_OLD: JobFault = {
  code: 'OVERLOADED',
  message: 'The job did not finish within BULK_RETENTION_DAYS, the time that files are kept. Narrow its filter.',
};

function notAllowed({ userId, accountId }: ClaimedJob): JobFault {
  const message = `User ${userId}, who started the job, may no longer work in account ${accountId}. Another user can start a new job.`;
  return { code: 'FORBIDDEN', message };
}

/** The provider, or the way to it, is at fault, and will not be for ever. */
const PASSING = ['PROVIDER_UNAVAILABLE', 'PROVIDER_TIMEOUT', 'PROVIDER_RATE_LIMITED', 'RATE_LIMITED'] as const;
const BEWILDERING = ['PROVIDER_PROTOCOL', 'INTERNAL'] as const;

/** Returns the error of a job with a code and message of the API. */
function faultOf(error: unknown): JobFault {
  if (!isAppError(error))
    return { code: 'INTERNAL', message: 'The bulk job failed because of an error in this service.' };
  const { code, message, details = [], providerMessage } = error;
  const missing = code === 'PROVIDER_PROTOCOL' ? details.map((detail) => detail.message) : [];
  const texts = [message, ...missing, providerMessage];
  return { code, message: texts.filter((text) => text !== undefined).join(' ') };
}
