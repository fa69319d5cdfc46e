import type { Knex } from 'knex';
import type { Accounts } from '../accounts/accounts.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { addDays, toDay } from '../db/partition-store.ts';
import { createPartitions } from '../db/partitions.ts';
import { isReferenceViolation } from '../db/violations.ts';
import { AppError } from '../errors.ts';
import { type InstanceKey, instanceNotFound } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import type { Platform } from '../platform.ts';
import { createBulkMetrics } from './bulk-metrics.ts';
import {
  createBulkStore,
  FILTERABLE_JOB,
  FILTERABLE_ROW_ERROR,
  type InstanceJobKey,
  type JobFilter,
  type NewJob,
} from './bulk-store.ts';
import {
  type CreatePorts,
  jobNotFound,
  MOST_OPEN_JOBS,
  type PlannedRequest,
  planDownload,
  tooMany,
} from './create-job.ts';
import { type BulkUploadRequest, receiveUpload } from './create-upload.ts';
import { openFailedRows } from './failed-rows.ts';
import { openFile } from './file.ts';
import { forgetNative } from './forget-native.ts';
import type { BulkJob, JobKey } from './job.ts';
import { createBulkWorker, WORKER_OPTIONS, type WorkerOptions, type WorkerPorts } from './worker.ts';

interface BulkNeighbours extends Pick<WorkerPorts, 'prepare' | 'openRun' | 'noteEnded'> {
  readonly resources: WorkerPorts['resources'] & CreatePorts['resources'];
  readonly instances: Pick<Instances, 'get'>;
  readonly accounts: Pick<Accounts, 'findActing'>;
}

export interface BulkRole {
  /** Whether this process works on jobs. If not, it only notifies the processes that do. */
  readonly works: boolean;
  readonly retentionDays: number;
  /** Maximum size of the file of an upload, in bytes. */
  readonly maxUploadBytes: number;
  readonly options?: Partial<WorkerOptions> | undefined;
}

interface JobQuery extends Pick<PageQuery, 'where' | 'limit'> {
  readonly beforeId?: number | undefined;
}

interface ErrorQuery extends Pick<PageQuery, 'where' | 'limit'> {
  readonly afterRow?: number | undefined;
}

/** The service for bulk jobs. */
export type Bulk = ReturnType<typeof composeBulk>;

const DUE_TOPIC = 'bulk-due';
const GONE_TOPIC = 'bulk-gone';
const INSTANCE_TOPIC = 'instance';
const DAY_MS = 86_400_000;
/** A file that comes in for longer is dropped as one whose sender is gone. */
const LONGEST_UPLOAD_MS = DAY_MS;

/** Builds the service for bulk jobs from instances, resources and the event engine. */
export function composeBulk(platform: Platform, neighbours: BulkNeighbours, role: BulkRole) {
  const { knex, notifier, clock, egress, shares } = platform;
  const { accounts, instances, resources, prepare, openRun, noteEnded } = neighbours;
  const { works, retentionDays, maxUploadBytes, options } = role;
  const store = createBulkStore(knex);
  const worker = createBulkWorker(platform, {
    store,
    resources,
    shares,
    prepare,
    openRun,
    noteEnded,
    getInstance: instances.get,
    mayAct: async (user) => (await accounts.findActing(user)) !== undefined,
    measures: createBulkMetrics(platform.metrics),
    retentionMs: retentionDays * DAY_MS,
    options: { ...WORKER_OPTIONS, ...options },
  });
  const partitions = createPartitions(platform, [
    { table: 'bulk_chunk', column: 'job_created_at', by: 'day', retentionDays },
    { table: 'bulk_row_error', column: 'job_created_at', by: 'day', retentionDays },
  ]);
  const ends: (() => void)[] = [];
  const forget = { resources, getInstance: instances.get, clock, log: platform.log };

  /**
   * Stores a new job.
   * @throws AppError NOT_FOUND for an instance that was deleted while its job was being created; RATE_LIMITED
   */
  async function begin(via: Knex, planned: NewJob): Promise<BulkJob> {
    // Others may have begun since it was planned: a file takes its time to come.
    if ((await store.countOpenInTurn(via, planned.accountId)) >= MOST_OPEN_JOBS) throw tooMany();
    const job = await store.insert(via, planned).catch((cause: unknown) => {
      throw isReferenceViolation(cause) ? instanceNotFound(planned.instanceId) : cause;
    });
    await notifier.publish(DUE_TOPIC, '', via);
    return job;
  }

  async function get(key: InstanceJobKey): Promise<BulkJob> {
    const job = await store.find(key);
    if (job === undefined) throw jobNotFound(key.id);
    return job;
  }

  return {
    start: async () => {
      await partitions.ensure();
      if (!works) return;
      ends.push(
        notifier.subscribe(DUE_TOPIC, worker.wake),
        notifier.subscribe(GONE_TOPIC, (payload) => worker.drop(readKey(payload))),
        notifier.subscribe(INSTANCE_TOPIC, (payload) => worker.refresh(readKey(payload))),
      );
      platform.buckets.onGained(worker.wake);
      worker.start();
    },
    /** Stops the worker. Rows that are being written may end within the given time. */
    stop: async (timeoutMs: number) => {
      await worker.stop(timeoutMs);
      for (const end of ends) end();
    },

    /**
     * Creates a download.
     * @throws AppError as `planDownload`
     */
    createDownload: async (request: PlannedRequest) => {
      const planned = await planDownload({ store, resources, egress, clock }, request);
      return store.transaction((via) => begin(via, planned));
    },

    /**
     * Creates an upload and reads its file to the end.
     * @throws AppError as `receiveUpload`
     */
    createUpload: (request: BulkUploadRequest) =>
      receiveUpload({ store, resources, egress, clock, maxBytes: maxUploadBytes }, request, begin),

    /**
     * Lists the errors of rows of an upload.
     * @throws AppError NOT_FOUND, WHERE_SYNTAX, WHERE_INVALID
     */
    listErrors: async (key: InstanceJobKey, query: ErrorQuery) => {
      const job = await get(key);
      const { rows, last } = await listPage(FILTERABLE_ROW_ERROR, query, (filter) =>
        shares.list(job.accountId, (via) => store.listRowErrors(via, job, filter)),
      );
      return { job, errors: rows, nextAfterRow: last?.rowNumber };
    },

    /**
     * Opens a file of the failed rows, unchanged, which can be corrected and sent again.
     * @throws AppError NOT_FOUND, WHERE_SYNTAX, WHERE_INVALID
     */
    openFailedRows: async (key: InstanceJobKey, where: string | undefined) =>
      openFailedRows({ store, shares }, await get(key), where),

    /**
     * Returns a job.
     * @throws AppError NOT_FOUND
     */
    get,

    /**
     * Lists the jobs of one instance, or of all, the newest first.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: async ({ accountId, instanceId }: Pick<JobFilter, 'accountId' | 'instanceId'>, query: JobQuery) => {
      const { rows, last } = await listPage(FILTERABLE_JOB, query, (filter) =>
        shares.list(accountId, (via) => store.list(via, { accountId, instanceId, ...filter })),
      );
      return { jobs: rows, nextBeforeId: last?.id };
    },

    /**
     * Cancels a job.
     * @throws AppError NOT_FOUND; CONFLICT for a job that has ended
     */
    cancel: async (key: InstanceJobKey) => {
      const { id } = await get(key);
      const { connector } = await instances.get(key.accountId, key.instanceId);
      const isCancelled = await store.transaction(async (via) => {
        const cancelled = await store.cancel(via, key, new Date(clock.now()));
        if (cancelled) await notifier.publish(GONE_TOPIC, keyOf(key), via);
        return cancelled;
      });
      // It may have ended since it was looked at.
      if (!isCancelled)
        throw new AppError('CONFLICT', `Job ${id} has already ended: it is ${(await get(key)).status}.`);
      noteEnded(key.accountId, connector.key);
      const cancelled = await get(key);
      await forgetNative(forget, cancelled, { isDone: false });
      return cancelled;
    },

    /**
     * Deletes a job with its file. A running job is aborted.
     * @throws AppError NOT_FOUND
     */
    remove: async (key: InstanceJobKey) => {
      await get(key);
      const removed = await store.transaction(async (via) => {
        const last = await store.remove(via, key);
        await notifier.publish(GONE_TOPIC, keyOf(key), via);
        return last;
      });
      // The provider's job of a job that has ended was removed already.
      if (removed?.finishedAt === null) await forgetNative(forget, removed, { isDone: false });
    },

    /**
     * Opens the result file of a job.
     * @throws AppError NOT_FOUND until there is a file, with the status of the job
     */
    open: async (key: InstanceJobKey, objectName: string) => {
      const job = await get(key);
      if (job.objectName !== objectName)
        throw new AppError('NOT_FOUND', `Job ${job.id} is about '${job.objectName}', not '${objectName}'.`);
      // The outcomes of written rows exist, whatever the end was.
      const isThere = job.direction === 'DOWNLOAD' ? job.status === 'COMPLETED' : job.due === null;
      if (!isThere) throw new AppError('NOT_FOUND', `Job ${job.id} has no file: it is ${job.status}.`);
      return openFile({ store, shares }, job);
    },

    /** Removes a batch of files of a deleted account whose instances are already deleted. */
    removeSome: store.removeSome,

    /** Creates partitions that are needed soon, and deletes files and jobs after the retention period. */
    keep: async () => {
      await partitions.ensure();
      await partitions.expire();
      const oldest = addDays(toDay(new Date(clock.now())), -retentionDays);
      const now = clock.now();
      await store.purge(new Date(`${oldest}T00:00:00Z`), new Date(now - LONGEST_UPLOAD_MS));
    },
  };
}

function keyOf({ accountId, id }: JobKey): string {
  return `${accountId}:${id}`;
}

function readKey(payload: string): JobKey & InstanceKey {
  const [accountId = 0, id = 0] = payload.split(':').map(Number);
  return { accountId, id };
}
