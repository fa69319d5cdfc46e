import { isAppError } from '../../errors.ts';
import { createGroupCommit, type Unit } from '../../events/accept/group-commit.ts';
import { type ClaimedWorkOptions, createClaimedWork } from '../../events/claimed-work.ts';
import { every } from '../../events/timers.ts';
import type { Platform } from '../../platform.ts';
import { LIMITS } from '../model.ts';
import { createHeavyRuns } from './heavy-runs.ts';
import type { ClaimedRun, EndStatus } from './model.ts';
import { type ExecutionRunOptions, type ExecutionRunPorts, type RunEnd, RunLost, runExecution } from './run.ts';
import type { RunCommit, RunStore } from './run-store.ts';

export interface ExecutionWorkerOptions extends ClaimedWorkOptions, ExecutionRunOptions {
  /** Milliseconds before the first new try of an execution for which this service failed. The time doubles with each failure. */
  readonly backoffMs: number;
  /** Rows and bytes of one commit. */
  readonly commitRows: number;
  readonly commitBytes: number;
}

export const WORKER_OPTIONS: ExecutionWorkerOptions = {
  concurrency: 64,
  lookMs: 5_000,
  // After a crash an execution waits this long. Renewals cost one statement every 3.3 seconds while something runs. A shorter lease would
  // end while PostgreSQL restarts, or while a busy process waits for a connection, and its requests would be sent again.
  leaseMs: 10_000,
  backoffMs: 1_000,
  batchSteps: 200,
  batchCharacters: 1024 * 1024,
  executedSteps: LIMITS.executedSteps,
  executionMs: LIMITS.executionMs,
  commitRows: 500,
  commitBytes: 8 * 1024 * 1024,
};

/** An execution that has ended. */
export interface EndedExecution {
  readonly run: ClaimedRun;
  readonly status: EndStatus;
  readonly fault: RunEnd['execution'];
}

interface ExecutionWorkerPorts
  extends Omit<ExecutionRunPorts, 'store' | 'commit' | 'options' | 'clock' | 'enterHeavy'> {
  readonly store: RunStore;
  /** Reports the end of an execution. It must not reject. */
  readonly noteEnded: (ended: EndedExecution) => Promise<void>;
  /** Called when mail of steps was stored. */
  readonly noteMail: () => void;
  readonly options: ExecutionWorkerOptions;
}

/** Within the time of a lease it is renewed so often. */
const RENEWALS = 3;
/** Maximum number of doublings of the backoff. */
const MOST_DOUBLINGS = 8;

interface Running {
  readonly run: ClaimedRun;
  readonly lost: AbortController;
}

interface CommitUnit extends Unit {
  readonly commit: RunCommit;
  readonly settle: PromiseWithResolvers<{ readonly isCancelled: boolean } | undefined>;
}

/** Runs the executions that are due. All processes together run each one at a time. */
export function createExecutionWorker(
  { clock, log, buckets }: Pick<Platform, 'clock' | 'log' | 'buckets'>,
  { store, noteEnded, noteMail, options, ...ports }: ExecutionWorkerPorts,
) {
  const enterHeavy = createHeavyRuns();
  const running = new Set<Running>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  const commits = createGroupCommit<CommitUnit>({
    write: writeAll,
    maxRows: options.commitRows,
    maxBytes: options.commitBytes,
    writesInFlight: 2,
  });
  const dueRuns = createClaimedWork<ClaimedRun>({
    ...{ clock, buckets, options, store, signal: stopping.signal },
    work: async (run) => {
      const one: Running = { run, lost: new AbortController() };
      running.add(one);
      await work(one).finally(() => running.delete(one));
    },
    noteFailure: (error) => log.warn({ err: error }, 'could not look for due executions of formulas; trying again'),
  });
  let endRenewals: (() => Promise<void>) | undefined;

  /** Does not reject. */
  async function work({ run, lost }: Running): Promise<void> {
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    const key = `${run.accountId}:${run.id}`;
    try {
      const end = await runExecution({ ...ports, store, commit, enterHeavy, clock, options }, run, signal);
      failures.delete(key);
      if (end.status !== undefined) await noteEnded({ run, status: end.status, fault: end.execution });
    } catch (error) {
      const isLost = lost.signal.reason instanceof RunLost;
      if (error instanceof RunLost || isLost) return void failures.delete(key);
      await giveBack(run, error, key).catch((failure: unknown) => {
        log.warn(
          { err: failure, accountId: run.accountId, executionId: run.id },
          'could not release an execution; its lease expires',
        );
      });
    }
  }

  /** Lets another process, or this one later, continue behind the last step that is stored. */
  async function giveBack(run: ClaimedRun, error: unknown, key: string): Promise<void> {
    if (stopping.signal.aborted) return store.release([run]);
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    const isBusy = isAppError(error, 'OVERLOADED');
    const { accountId, id: executionId } = run;
    if (!isBusy)
      log.error({ err: error, accountId, executionId }, 'an execution of a formula stopped; it goes on later');
    // The lease is kept until then: nobody takes the run before its time.
    const waitMs = options.backoffMs * 2 ** Math.min(count - 1, MOST_DOUBLINGS);
    await store.renew([run], new Date(clock.now() + waitMs));
    dueRuns.lookIn(waitMs);
  }

  function commit(wanted: RunCommit): Promise<{ readonly isCancelled: boolean } | undefined> {
    const settle = Promise.withResolvers<{ readonly isCancelled: boolean } | undefined>();
    const bytes = wanted.rows.reduce((sum, { content }) => sum + (content?.length ?? 0) * ROW_BYTES, ROW_BYTES);
    commits.add({ accountId: wanted.accountId, rowCount: wanted.rows.length + 1, bytes, commit: wanted, settle });
    return settle.promise;
  }

  async function writeAll(units: readonly CommitUnit[]): Promise<void> {
    try {
      const stored = await store.commit(units.map((unit) => unit.commit));
      for (const unit of units) unit.settle.resolve(stored.get(unit.commit.lease));
      if (units.some(({ commit: { mails = [] } }) => mails.length > 0)) noteMail();
    } catch (error) {
      for (const unit of units) unit.settle.reject(error);
    }
  }

  async function renew(): Promise<void> {
    const all = [...running];
    if (all.length === 0) return;
    try {
      const runs = all.map(({ run }) => run);
      const { held } = await store.renew(runs, new Date(clock.now() + options.leaseMs));
      for (const { run, lost } of all)
        if (running.size > 0 && !held.has(run.lease)) lost.abort(new RunLost('The lease is over.'));
    } catch (error) {
      log.warn(
        { err: error, runs: all.length },
        'could not renew the leases of executions; other processes may take them over',
      );
    }
  }

  return {
    start: () => {
      endRenewals = every(clock, options.leaseMs / RENEWALS, renew);
      dueRuns.start();
    },
    /** Something may be due. */
    wake: dueRuns.look,
    /** Number of executions that run in this process. */
    busy: () => running.size,
    /** Starts no more executions, breaks off those in progress, and releases them to other processes. */
    stop: async (timeoutMs: number) => {
      const endWait = clock.after(timeoutMs, () => {
        for (const { lost } of running) lost.abort(new Error('The service is stopping.'));
      });
      stopping.abort(new Error('The service is stopping.'));
      await dueRuns.endLooks();
      await dueRuns.done();
      endWait();
      await commits.idle();
      await endRenewals?.();
    },
  };
}

/** About how many bytes a value of a step has. */
const ROW_BYTES = 256;
