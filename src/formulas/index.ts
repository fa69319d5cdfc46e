import { createPartitions } from '../db/partitions.ts';
import { createAnnouncement } from '../events/sweep/announcement.ts';
import type { Platform } from '../platform.ts';
import type { Sandbox } from '../scripts/index.ts';
import { createExecutionStore } from './executions/execution-store.ts';
import { createExecutions } from './executions/executions.ts';
import { createRunStore } from './executions/run-store.ts';
import { createExecutionWorker, type ExecutionWorkerOptions, WORKER_OPTIONS } from './executions/worker.ts';
import type { CallApi } from './ports.ts';
import { createPrograms } from './programs.ts';
import { createRequestTriggers } from './request-triggers.ts';
import { createScheduler } from './scheduler.ts';
import { createAmqpRequest } from './steps/amqp-request.ts';
import { createElementRequest, createPlatformRequest } from './steps/api-requests.ts';
import { createHttpRequest } from './steps/http-request.ts';
import { createFilter, createScript } from './steps/scripts.ts';
import { createStreamRequest } from './steps/stream-request.ts';
import { createTriggers } from './triggers.ts';

export { composeTemplates, createNoteElementRemoval } from './templates-room.ts';

export interface FormulaRole {
  /** Whether this process runs executions. If not, it only notifies the processes that do. */
  readonly runs: boolean;
  /** Days for which steps and their values are kept. */
  readonly retentionDays: number;
  readonly options?: Partial<ExecutionWorkerOptions> | undefined;
}

/** Neighbours that are built after formulas, because they use them. */
export interface FormulaEngineNeighbours {
  readonly callApi: CallApi;
  readonly sandbox: Sandbox;
}

export type Formulas = ReturnType<typeof composeFormulas>;

const DUE_TOPIC = 'formula-due';
const CHANGED_TOPIC = 'formula-changed';
/** Milliseconds between two announcements of due executions to other processes. */
const ANNOUNCE_MS = 25;
/** Days for which executions are listed (formulas.md, 16). */
const EXECUTION_DAYS = 30;

/** Formulas: what starts them, and their executions. */
export function composeFormulas(platform: Platform, { runs: isWorker, retentionDays, options }: FormulaRole) {
  const { knex, notifier, clock, log, shares, egress } = platform;
  const runs = createRunStore(knex);
  const programs = createPrograms(platform);
  const announcement = createAnnouncement(platform, () => notifier.publish(DUE_TOPIC, ''), ANNOUNCE_MS);
  let wakeWorker: () => void = () => undefined;
  const wake = () => {
    wakeWorker();
    announcement.announce();
  };
  const triggers = createTriggers({ programs, clock, wake });
  const executions = createExecutions({ store: createExecutionStore(knex), runs, programs, shares, clock, wake });
  const scheduler = createScheduler(platform, { programs, wake });
  const partitions = createPartitions(platform, [
    { table: 'formula_execution', column: 'created_at', by: 'month', retentionDays: EXECUTION_DAYS },
    { table: 'formula_step', column: 'execution_at', by: 'day', retentionDays },
  ]);
  const ends: (() => void | Promise<void>)[] = [announcement.stop];

  return {
    executions,
    findTriggered: triggers.ofEvent,
    /** Starts the formulas that wait for a request. */
    noteRequest: createRequestTriggers({ triggers, runs, clock, log, wake }),

    /** Makes the partitions. To be called before executions are stored. */
    prepare: partitions.ensure,

    /** Begins to run executions. */
    start: async ({ callApi, sandbox }: FormulaEngineNeighbours): Promise<void> => {
      if (!isWorker) return;
      const worker = createExecutionWorker(platform, {
        store: runs,
        programs,
        performers: {
          elementRequest: createElementRequest({ callApi }),
          request: createPlatformRequest({ callApi }),
          httpRequest: createHttpRequest({ egress }),
          elementRequestStream: createStreamRequest({ callApi }),
          amqpRequest: createAmqpRequest({ egress }),
          script: createScript({ sandbox }),
          filter: createFilter({ sandbox }),
        },
        noteEnded: async () => undefined,
        options: { ...WORKER_OPTIONS, ...options },
      });
      wakeWorker = worker.wake;
      ends.push(
        notifier.subscribe(DUE_TOPIC, worker.wake),
        notifier.onGap(worker.wake),
        notifier.subscribe(CHANGED_TOPIC, scheduler.wake),
        scheduler.stop,
        () => worker.stop(0),
      );
      worker.start();
      scheduler.start();
    },

    /** Starts no more executions, and releases those in progress. */
    stop: async (): Promise<void> => {
      for (const end of ends.toReversed()) await end();
    },

    /** Partitions and retention. */
    keep: async (): Promise<void> => {
      await partitions.ensure();
      await partitions.expire();
    },
  };
}
