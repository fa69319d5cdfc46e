import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { columnLiterals } from '../db/array-literal.ts';
import { isDistributed, perAccount } from '../db/distributed.ts';
import { json } from '../db/json.ts';
import { filterable, INSTANT, INTEGER, narrow, orNull, TEXT } from '../db/listing.ts';
import { nextId } from '../db/next-id.ts';
import type { Removal } from '../db/removal.ts';
import { columnsOf, firstOf, type RowOf, toColumns } from '../db/row.ts';
import { takeTurns } from '../db/transaction.ts';
import type { ClaimRequest } from '../events/claimed-work.ts';
import type { Sql } from '../where/index.ts';
import { inBuckets } from '../work-buckets.ts';
import type { BulkFileName, BulkJob, ClaimedJob, JobFault, JobKey, JobProgress, NewChunk, RowError } from './job.ts';

/** Columns of a new job. An upload has an id beforehand, because its file is stored first. */
export type NewJob = Pick<
  BulkJob,
  'accountId' | 'instanceId' | 'userId' | 'direction' | 'objectName' | 'format' | 'callbackUrl' | 'createdAt'
> &
  Partial<Pick<BulkJob, 'id' | 'query' | 'upload' | 'changedBefore' | 'fileName'>>;

/** Key of a job with its creation time. The day of creation selects the partition with the job's file. */
export type StoredJob = Pick<BulkJob, 'accountId' | 'id' | 'createdAt'>;

/** Key of a job within one instance. */
export type InstanceJobKey = Pick<BulkJob, 'accountId' | 'instanceId' | 'id'>;

export interface JobFilter extends Pick<BulkJob, 'accountId'> {
  /** Restricts the list to an instance. Default: all instances. */
  readonly instanceId?: number | undefined;
  readonly condition?: Sql | undefined;
  /** Restricts the list to ids below this one. The newest jobs come first. */
  readonly beforeId?: number | undefined;
  readonly limit: number;
}

/** Data of a job that is stored in one step. */
export interface Checkpoint extends JobProgress {
  /** New chunks. A chunk replaces a stored one that begins at the same byte. */
  readonly chunks: readonly NewChunk[];
  readonly rowErrors?: readonly RowError[];
  /** Upload only: the provider's job that has the upload's rows from now on. */
  readonly nativeJob?: string;
  /** Number of calls to the provider since the last checkpoint. */
  readonly providerCalls: number;
  /** False if the job made no progress and keeps failing. */
  readonly isProgress?: boolean;
}

/** Time at which an unfinished job is worked on again. */
export interface Postponement {
  readonly due: Date;
  /** Time of a failure; absent when the job did not fail. */
  readonly failedAt?: Date;
  /** Whether the job waited to leave the provider's rate limit to callers. */
  readonly hasWaited: boolean;
  readonly providerCalls: number;
}

export type BulkStore = ReturnType<typeof createBulkStore>;

/** Fields that a list of jobs can be filtered by. */
export const FILTERABLE_JOB = filterable({
  id: [INTEGER, 'id'],
  instanceId: [INTEGER, 'instance_id'],
  status: [TEXT, 'status'],
  objectName: [TEXT, 'object_name'],
  jobDirection: [TEXT, 'direction'],
  fileFormat: [TEXT, 'format'],
  recordsCount: [INTEGER, 'record_count'],
  recordsFailedCount: [INTEGER, 'failed_count'],
  createdDate: [INSTANT, 'created_at'],
  bulkStartTime: [orNull(INSTANT), 'started_at'],
  bulkFinishTime: [orNull(INSTANT), 'finished_at'],
});

export interface RowErrorFilter {
  readonly condition?: Sql | undefined;
  /** Restricts the list to rows after this one. */
  readonly afterRow?: number | undefined;
  readonly onlyFailed?: boolean;
  readonly limit: number;
}

/** Fields that the errors of rows can be filtered by. */
export const FILTERABLE_ROW_ERROR = filterable({
  row: [INTEGER, 'row_number'],
  outcome: [TEXT, 'outcome'],
  doubtful: [{ type: 'boolean', filter: { '=': 'exact', '!=': 'exact' }, nullable: false }, 'is_doubtful'],
  code: [orNull(TEXT), 'code'],
  message: [TEXT, 'message'],
});

/**
 * Creates the store of jobs and their files. Each statement names the account, except those of the workers, which work for all accounts.
 */
export function createBulkStore(knex: Knex) {
  async function claimPerAccount(
    chosen: readonly Knex.RawBinding[],
    { now, leaseUntil }: ClaimRequest,
  ): Promise<readonly ClaimedJob[]> {
    const { rows: due } = await knex.raw<{ rows: JobKey[] }>(FIND_DUE, [...chosen]);
    const claimed = await perAccount(knex, due, async (via, jobs, accountId) => {
      const { rows } = await via.raw<{ rows: ClaimedJob[] }>(CLAIM_OF_ACCOUNT, [
        leaseUntil,
        now,
        jobs.map(({ id }) => id),
        jobs.map(() => randomUUID()),
        accountId ?? null,
        now,
        now,
      ]);
      return rows;
    });
    return claimed.flat();
  }

  const addChunk = async (
    via: Knex,
    file: BulkFileName,
    { accountId, id, createdAt }: StoredJob,
    { startByte, byteCount, data }: NewChunk,
  ): Promise<void> => {
    const key = { account_id: accountId, job_id: id, job_created_at: createdAt, file, start_byte: startByte };
    await via('bulk_chunk')
      .insert({ ...key, byte_count: byteCount, data })
      .onConflict(['account_id', 'job_id', 'file', 'start_byte', 'job_created_at'])
      .merge(['byte_count', 'data']);
  };
  const removeFiles = async (via: Knex, { accountId, id }: JobKey): Promise<void> => {
    await via('bulk_chunk').where({ account_id: accountId, job_id: id }).delete();
    await via('bulk_row_error').where({ account_id: accountId, job_id: id }).delete();
  };
  const countOpen = async (via: Knex, accountId: number): Promise<number> => {
    const [row] = await via('bulk_job').where({ account_id: accountId }).whereNotNull('due').count({ count: '*' });
    return Number(row?.count);
  };
  const selectJobs = (via: Knex) => via('bulk_job').select(COLUMNS);

  return {
    transaction: <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => knex.transaction(work),

    /** Inserts a job that is due at once. */
    insert: async (via: Knex, job: NewJob): Promise<BulkJob> => {
      const query = json(via, { ...job.query });
      const upload = job.upload && json(via, { ...job.upload });
      const rows: RowOf<'bulk_job'>[] = await via('bulk_job')
        .insert(toColumns('bulk_job', { ...job, query, upload, due: job.createdAt }))
        .returning(RETURNED);
      return toJob(firstOf(rows));
    },

    /** Reserves an id for a job whose file is stored before the job. */
    nextJobId: (): Promise<number> => nextId(knex, 'bulk_job'),

    /** Stores a chunk of the file of an upload. */
    addInput: (job: StoredJob, chunk: NewChunk, via: Knex = knex): Promise<void> => addChunk(via, 'input', job, chunk),

    /** Removes the chunks of a job that was never created, because its file was incomplete. */
    dropFiles: (job: JobKey): Promise<void> => removeFiles(knex, job),

    /** Lists errors in the order of the rows. */
    listRowErrors: async (
      via: Knex,
      { accountId, id, createdAt }: StoredJob,
      { condition, afterRow, onlyFailed = false, limit }: RowErrorFilter,
    ): Promise<readonly RowError[]> => {
      const query = via('bulk_row_error')
        .select(ROW_ERROR_COLUMNS)
        .where({ account_id: accountId, job_id: id, job_created_at: createdAt })
        .orderBy('row_number')
        .limit(limit);
      if (condition !== undefined) narrow(query, condition);
      if (afterRow !== undefined) query.where('row_number', '>', afterRow);
      if (onlyFailed) query.where('outcome', 'failed');
      return query;
    },

    /** Returns the number of jobs of the account that have not ended. */
    countOpen: (accountId: number): Promise<number> => countOpen(knex, accountId),

    /** Returns the same number. No other job of the account is counted so until the end of the transaction. */
    countOpenInTurn: async (via: Knex, accountId: number): Promise<number> => {
      await takeTurns(via, 'new bulk jobs of an account', [accountId]);
      return countOpen(via, accountId);
    },

    find: async ({ accountId, instanceId, id }: InstanceJobKey): Promise<BulkJob | undefined> => {
      const [row] = await selectJobs(knex).where({ account_id: accountId, instance_id: instanceId, id });
      return row && toJob(row);
    },

    list: async (via: Knex, filter: JobFilter): Promise<readonly BulkJob[]> => {
      const { accountId, instanceId, condition, beforeId, limit } = filter;
      const query = selectJobs(via).where({ account_id: accountId }).orderBy('id', 'desc').limit(limit);
      if (instanceId !== undefined) query.where({ instance_id: instanceId });
      if (condition !== undefined) narrow(query, condition);
      if (beforeId !== undefined) query.where('id', '<', beforeId);
      return (await query).map(toJob);
    },

    /** Cancels a job. Returns false when it has already ended. */
    cancel: async (via: Knex, { accountId, id }: JobKey, now: Date): Promise<boolean> =>
      (await via('bulk_job')
        .where({ account_id: accountId, id })
        .whereNotNull('due')
        .update({ ...ENDED, status: 'CANCELLED', finished_at: now })) > 0,

    /**
     * Deletes a job with its file.
     * @returns the last state of the job
     */
    remove: async (via: Knex, { accountId, id }: JobKey): Promise<BulkJob | undefined> => {
      // The job first: a checkpoint that is under way holds it, and its chunks are seen after it only.
      const [row]: RowOf<'bulk_job'>[] = await via('bulk_job')
        .where({ account_id: accountId, id })
        .delete()
        .returning(RETURNED);
      await removeFiles(via, { accountId, id });
      return row && toJob(row);
    },

    /** Claims due jobs: those of accounts with the fewest jobs in progress first, and per account the longest due first. */
    claim: async (claim: ClaimRequest): Promise<readonly ClaimedJob[]> => {
      const { now, leaseUntil, limit, share, except, buckets } = claim;
      const chosen = [now, now, [...buckets], [...except], limit * 4, now, share, limit];
      if (await isDistributed(knex)) return claimPerAccount(chosen, claim);
      const { rows } = await knex.raw<{ rows: ClaimedJob[] }>(CLAIM, [...chosen, leaseUntil, now]);
      return rows;
    },

    /** Returns the time when the next unclaimed job in these buckets is due. */
    nextDue: async (claimed: Date, buckets: readonly number[]): Promise<Date | undefined> => {
      const [row] = await knex('bulk_job')
        .where('due', '>', claimed)
        .where((free) => free.whereNull('lease_until').orWhere('lease_until', '<=', claimed))
        .whereRaw(inBuckets('id'), [[...buckets]])
        .min({ due: 'due' });
      return row?.due ?? undefined;
    },

    /**
     * Renews leases.
     * @returns the leases that this process still holds
     */
    renew: async (jobs: readonly ClaimedJob[], leaseUntil: Date): Promise<ReadonlySet<string>> => {
      const { rows } = await knex.raw<{ rows: Pick<ClaimedJob, 'lease'>[] }>(RENEW, [
        leaseUntil,
        ...columnLiterals(jobs, ['accountId', 'id', 'lease']),
      ]);
      return new Set(rows.map(({ lease }) => lease));
    },

    /**
     * Stores chunks of the file and the progress of the job.
     * @returns false if this process lost the job; then roll back the transaction
     */
    checkpoint: async (
      via: Knex,
      { accountId, id, lease, createdAt }: ClaimedJob,
      step: Checkpoint,
    ): Promise<boolean> => {
      const { fields, walkKey, position, inputPosition, recordCount, failedCount, byteCount, estimatedTotal } = step;
      const { providerCalls, chunks, rowErrors = [], nativeJob, isProgress = true } = step;
      const job = { accountId, id, createdAt };
      const updated = await via('bulk_job')
        .where({ account_id: accountId, id, lease })
        .update({
          fields: fields && json(via, fields),
          walk_key: walkKey,
          position: position && json(via, position),
          input_position: inputPosition && json(via, { ...inputPosition }),
          record_count: recordCount,
          failed_count: failedCount,
          byte_count: byteCount,
          estimated_total: estimatedTotal,
          // The last step leads nowhere: who found the rows is kept.
          ...(position !== null && { native_job: position.native?.id ?? null }),
          ...(nativeJob !== undefined && { native_job: nativeJob }),
          provider_calls: via.raw('provider_calls + ?', [providerCalls]),
          ...(isProgress && { failures: 0, failing_since: null, waits: 0 }),
        });
      if (updated === 0) return false;
      for (const chunk of chunks) await addChunk(via, 'result', job, chunk);
      const of = { accountId, jobId: id, jobCreatedAt: createdAt };
      // A statement accepts 65,535 values.
      for (let at = 0; at < rowErrors.length; at += ROW_ERRORS_AT_ONCE) {
        await via('bulk_row_error').insert(
          rowErrors.slice(at, at + ROW_ERRORS_AT_ONCE).map((row) => toColumns('bulk_row_error', { ...of, ...row })),
        );
      }
      return true;
    },

    /**
     * Removes the stored part of the file.
     * @returns false if this process lost the job
     */
    restart: async (via: Knex, { accountId, id, lease }: ClaimedJob): Promise<boolean> => {
      const updated = await via('bulk_job').where({ account_id: accountId, id, lease }).update({
        fields: null,
        walk_key: null,
        position: null,
        record_count: 0,
        byte_count: 0,
        estimated_total: null,
        native_job: null,
      });
      if (updated > 0) await via('bulk_chunk').where({ account_id: accountId, job_id: id }).delete();
      return updated > 0;
    },

    /**
     * Ends a job.
     * @returns the ended job; undefined if this process lost the job
     */
    end: async (
      via: Knex,
      { accountId, id, lease }: ClaimedJob,
      { now, fault, providerCalls }: { readonly now: Date; readonly fault?: JobFault; readonly providerCalls: number },
    ): Promise<BulkJob | undefined> => {
      const [row]: RowOf<'bulk_job'>[] = await via('bulk_job')
        .where({ account_id: accountId, id, lease })
        .update({
          ...ENDED,
          status: fault === undefined ? 'COMPLETED' : 'FAILED',
          finished_at: now,
          provider_calls: via.raw('provider_calls + ?', [providerCalls]),
          code: fault?.code ?? null,
          message: fault?.message ?? null,
        })
        .returning(RETURNED);
      return row && toJob(row);
    },

    /** Releases a job until later, unless another process has claimed it meanwhile. */
    postpone: async ({ accountId, id, lease }: ClaimedJob, later: Postponement): Promise<void> => {
      const { due, failedAt, hasWaited, providerCalls } = later;
      await knex('bulk_job')
        .where({ account_id: accountId, id, lease })
        .update({
          due,
          lease: null,
          lease_until: null,
          provider_calls: knex.raw('provider_calls + ?', [providerCalls]),
          ...(failedAt !== undefined && {
            failures: knex.raw('failures + 1'),
            failing_since: knex.raw('coalesce(failing_since, ?)', [failedAt]),
          }),
          ...(hasWaited && { waits: knex.raw('waits + 1') }),
        });
    },

    /** Finds the chunk of a file that contains a byte. */
    findChunk: async (
      { accountId, id, createdAt }: StoredJob,
      file: BulkFileName,
      byte: number,
    ): Promise<RowOf<'bulk_chunk', 'start_byte' | 'byte_count' | 'data'> | undefined> => {
      const chunk = await knex('bulk_chunk')
        .where({ account_id: accountId, job_id: id, file, job_created_at: createdAt })
        .where('start_byte', '<=', byte)
        .orderBy('start_byte', 'desc')
        .first({ startByte: 'start_byte', byteCount: 'byte_count', data: 'data' });
      return chunk !== undefined && byte < chunk.startByte + chunk.byteCount ? chunk : undefined;
    },

    /** Deletes a batch of files of an account, whose jobs were deleted with its instances. */
    removeSome: async (accountId: number): Promise<Removal> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(REMOVE_SOME, [accountId, accountId, REMOVED_AT_ONCE]);
      return rowCount === 0 ? 'done' : 'more';
    },

    /**
     * Deletes old jobs, whose files were deleted with the partitions of their days, and files of deleted instances. It keeps files that
     * arrived since `comingSince`, because their jobs may not be stored yet.
     */
    purge: async (before: Date, comingSince: Date): Promise<void> => {
      await knex('bulk_job').where('created_at', '<', before).delete();
      await knex.raw(PURGE_FILES, [comingSince]);
      await knex.raw(PURGE_ROW_ERRORS);
    },
  };
}

/** Only this room writes its columns of JSON. */
function toJob(row: RowOf<'bulk_job'>): BulkJob {
  return row as BulkJob;
}

const ENDED = { due: null, lease: null, lease_until: null, position: null } as const;

const COLUMNS = columnsOf('bulk_job', [
  'account_id',
  'id',
  'instance_id',
  'user_id',
  'direction',
  'status',
  'object_name',
  'query',
  'upload',
  'changed_before',
  'format',
  'file_name',
  'callback_url',
  'fields',
  'walk_key',
  'position',
  'input_position',
  'record_count',
  'failed_count',
  'byte_count',
  'provider_calls',
  'estimated_total',
  'native_job',
  'code',
  'message',
  'due',
  'lease',
  'lease_until',
  'failures',
  'failing_since',
  'waits',
  'created_at',
  'started_at',
  'finished_at',
]);

const ROW_ERROR_COLUMNS = columnsOf('bulk_row_error', [
  'row_number',
  'outcome',
  'is_doubtful',
  'code',
  'message',
  'start_byte',
  'end_byte',
]);

const RETURNED = Object.entries(COLUMNS).map(([name, column]) => `${column} as ${name}`);

const CHOSEN = (lock: string) => `
  with ready as materialized (
    select account_id, id, due from bulk_job
    where due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('id')} and account_id <> all(?::bigint[])
    order by due limit ?
    ${lock}
  ),
  busy as (
    select account_id, count(*) as jobs from bulk_job where due is not null and lease_until > ? group by account_id
  ),
  ranked as (
    select r.*, coalesce(b.jobs, 0) as jobs, row_number() over (partition by r.account_id order by r.due) as place
    from ready r left join busy b using (account_id)
  ),
  chosen as (select * from ranked where place <= ? order by jobs + place, due limit ?)`;

const CLAIMED = Object.entries(COLUMNS)
  .map(([name, column]) => `j.${column} as "${name}"`)
  .join(', ');

// Rows are locked where nothing is counted yet, so that two processes never wait for each other's.
const CLAIM = `${CHOSEN('for update skip locked')}
  update bulk_job j set
    lease = gen_random_uuid(), lease_until = ?, status = 'RUNNING', started_at = coalesce(started_at, ?)
  from chosen c where j.account_id = c.account_id and j.id = c.id
  returning ${CLAIMED}`;

/** The jobs to claim, without a lock: a distributed database locks rows of one account at a time only. */
const FIND_DUE = `${CHOSEN('')} select account_id as "accountId", id from chosen`;

// Another process may have claimed them since they were found.
const CLAIM_OF_ACCOUNT = `
  update bulk_job j set
    lease = c.lease, lease_until = ?, status = 'RUNNING', started_at = coalesce(started_at, ?)
  from unnest(?::bigint[], ?::uuid[]) as c(id, lease)
  where j.account_id = ? and j.id = c.id and j.due <= ? and (j.lease_until is null or j.lease_until <= ?)
  returning ${CLAIMED}`;

const ROW_ERRORS_AT_ONCE = 1_000;
/** Chunks. */
const REMOVED_AT_ONCE = 2_000;

// By their keys: the same ctid may be of another account's in another partition.
const REMOVE_SOME = `
  delete from bulk_chunk where account_id = ? and (job_id, start_byte, job_created_at) in (
    select job_id, start_byte, job_created_at from bulk_chunk where account_id = ? limit ?)`;

const PURGE_FILES = `
  delete from bulk_chunk c
  where not exists (select from bulk_job j where j.account_id = c.account_id and j.id = c.job_id)
    and (c.file <> 'input' or c.job_created_at < ?)`;

const PURGE_ROW_ERRORS = `
  delete from bulk_row_error e where not exists (select from bulk_job j where j.account_id = e.account_id and j.id = e.job_id)`;

const RENEW = `
  update bulk_job j set lease_until = ?
  from unnest(?::bigint[], ?::bigint[], ?::uuid[]) as r(account_id, id, lease)
  where j.account_id = r.account_id and j.id = r.id and j.lease = r.lease
  returning j.lease`;
