import { createPartitions } from '../db/partitions.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import { createAnnouncement } from '../events/sweep/announcement.ts';
import type { Metrics } from '../metrics.ts';
import type { Platform } from '../platform.ts';
import type { Sandbox } from '../scripts/index.ts';
import { createFormulaAnalytics } from './analytics.ts';
import { findElementUses } from './element-uses.ts';
import { createExecutionStore } from './executions/execution-store.ts';
import { createExecutions } from './executions/executions.ts';
import type { EndStatus } from './executions/model.ts';
import { createResourceResponses } from './executions/resource-responses.ts';
import { createResponseStore } from './executions/response-store.ts';
import { createRunStore } from './executions/run-store.ts';
import { createStartLimit } from './executions/start-limit.ts';
import {
  createExecutionWorker,
  type EndedExecution,
  type ExecutionWorkerOptions,
  WORKER_OPTIONS,
} from './executions/worker.ts';
import { createMailer, type MailSettings } from './notices/mailer.ts';
import { createTeller } from './notices/teller.ts';
import type { CallApi } from './ports.ts';
import { createPrograms } from './programs.ts';
import { createRequestTriggers } from './request-triggers.ts';
import { createResourceStore } from './resource-store.ts';
import { createFormulaResources } from './resources.ts';
import { createScheduler } from './scheduler.ts';
import { createAmqpRequest } from './steps/amqp-request.ts';
import { createElementRequest, createPlatformRequest } from './steps/api-requests.ts';
import { createHttpRequest } from './steps/http-request.ts';
import { createFilter, createScript } from './steps/scripts.ts';
import { createStreamRequest } from './steps/stream-request.ts';
import { createTriggers, type MayWorkIn } from './triggers.ts';

export { composeTemplates, createNoteElementRemoval } from './templates-room.ts';

export interface FormulaRole {
  /** Whether this process runs executions. If not, it only notifies the processes that do. */
  readonly runs: boolean;
  /** Days for which steps and their values are kept. */
  readonly retentionDays: number;
  readonly options?: Partial<FormulaOptions> | undefined;
  /** Server for outgoing mail. Undefined: mail is only listed as notifications. */
  readonly mail: MailSettings | undefined;
}

export interface FormulaOptions extends ExecutionWorkerOptions {
  /** Milliseconds that a request to a formula waits for the end of its execution. */
  readonly responseMs: number;
  /** Maximum number of starts of one instance per minute. */
  readonly startsPerMinute: number;
}

/** Neighbours that are built before formulas. */
export interface FormulaNeighbours {
  readonly notifications: Notifications;
  readonly mayWorkIn: MayWorkIn;
  /** Called for each execution that ends. */
  readonly noteEnded: (accountId: number) => void;
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

/** Milliseconds that a request to a formula waits for the end of its execution (formulas.md, 13). */
const RESPONSE_MS = 60_000;
/** Milliseconds for which responses are kept for repeated requests. */
const KEEP_RESPONSES_MS = 24 * 3_600_000;

/** Formulas: what starts them, and their executions. */
export function composeFormulas(
  platform: Platform,
  { notifications, mayWorkIn, noteEnded: countEnded }: FormulaNeighbours,
  { runs: isWorker, retentionDays, options, mail }: FormulaRole,
) {
  const { knex, notifier, clock, log, shares, egress, buckets } = platform;
  const runs = createRunStore(knex);
  const programs = createPrograms(platform);
  const announcement = createAnnouncement(platform, () => notifier.publish(DUE_TOPIC, ''), ANNOUNCE_MS);
  let wakeWorker: () => void = () => undefined;
  const wake = () => {
    wakeWorker();
    announcement.announce();
  };
  const { countStarts } = runs;
  const startLimit = createStartLimit({ countStarts, clock, perMinute: options?.startsPerMinute });
  const triggers = createTriggers({ programs, startLimit, mayWorkIn, clock, wake });
  const executions = createExecutions({
    store: createExecutionStore(knex),
    runs,
    startLimit,
    programs,
    shares,
    clock,
    wake,
  });
  const responseStore = createResponseStore(knex);
  const responses = createResourceResponses({ store: responseStore, notifier, clock });
  const resources = createFormulaResources({
    store: createResourceStore(knex),
    responseStore,
    executions,
    responses,
    programs,
    timeoutMs: options?.responseMs ?? RESPONSE_MS,
  });
  const teller = createTeller(platform, {
    prepareNotice: notifications.prepare,
    prepareEvent: notifications.prepareEvent,
    sendMail: mail && createMailer({ egress }, mail),
  });
  const measures = createFormulaMetrics(platform.metrics);
  const scheduler = createScheduler(platform, { programs, wake });
  const partitions = createPartitions(platform, [
    { table: 'formula_execution', column: 'created_at', by: 'month', retentionDays: EXECUTION_DAYS },
    { table: 'formula_step', column: 'execution_at', by: 'day', retentionDays },
  ]);
  const ends: (() => void | Promise<void>)[] = [announcement.stop, async () => responses.stop()];

  async function noteEnded({ run, status }: EndedExecution): Promise<void> {
    measures.ended(status);
    countEnded(run.accountId);
    if (status === 'failed') teller.wake();
    if (!run.isAwaited) return;
    try {
      await responses.noteEnded(run.id);
    } catch (error) {
      log.warn(
        { err: error, executionId: run.id },
        'could not report an end to the process that waits; it looks by itself',
      );
    }
  }

  return {
    executions,
    resources,
    analytics: createFormulaAnalytics(platform),
    findTriggered: triggers.ofEvent,
    /** Returns the running formula instances that use an element instance. */
    usesOf: (accountId: number, elementInstanceId: number) =>
      findElementUses({ programs, listAllowed: triggers.listAllowed }, accountId, elementInstanceId),
    /** Starts the formulas that wait for a request. */
    noteRequest: createRequestTriggers({ triggers, runs, startLimit, clock, log, wake }),

    /** Makes the partitions. To be called before executions are stored. */
    prepare: partitions.ensure,

    /** Begins to run executions. */
    start: async ({ callApi: callAs, sandbox }: FormulaEngineNeighbours): Promise<void> => {
      if (!isWorker) return;
      // An administrator of the organization may name element instances of other accounts. The API checks that right at each call.
      const callApi: CallApi = async (call) => {
        const { accountId, instanceId } = call.caller;
        const other = instanceId === undefined ? undefined : await programs.findOtherAccount(accountId, instanceId);
        return callAs(other === undefined ? call : { ...call, caller: { ...call.caller, accountId: other } });
      };
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
        noteEnded,
        noteMail: teller.wake,
        options: { ...WORKER_OPTIONS, ...options },
      });
      wakeWorker = worker.wake;
      measures.observe(worker.busy);
      ends.push(
        notifier.subscribe(DUE_TOPIC, worker.wake),
        notifier.onGap(worker.wake),
        notifier.subscribe(CHANGED_TOPIC, scheduler.wake),
        scheduler.stop,
        teller.stop,
        () => worker.stop(0),
      );
      buckets.onGained(worker.wake);
      buckets.onGained(scheduler.wake);
      worker.start();
      scheduler.start();
      teller.start();
    },

    /** Starts no more executions, and releases those in progress. */
    stop: async (): Promise<void> => {
      for (const end of ends.toReversed()) await end();
    },

    /** Partitions and retention. */
    keep: async (): Promise<void> => {
      await partitions.ensure();
      await partitions.expire();
      await responseStore.purge(new Date(clock.now() - KEEP_RESPONSES_MS));
    },
  };
}

/** Creates the metrics of the engine of formulas. */
function createFormulaMetrics(metrics: Metrics) {
  let countRunning = () => 0;
  const ended = metrics.counter<'status'>({
    name: 'causeway_formula_executions_ended_total',
    help: 'Executions of formulas that this process ended, by status: success, failed, retry (it runs again later), cancelled.',
    labelNames: ['status'],
  });
  metrics.gauge({
    name: 'causeway_formula_executions_running',
    help: 'Executions of formulas that this process runs.',
    collect: (gauge) => gauge.set(countRunning()),
  });
  return {
    ended: (status: EndStatus) => ended.inc({ status }),
    /** Sets how the executions of this process are counted. */
    observe: (count: () => number) => {
      countRunning = count;
    },
  };
}
