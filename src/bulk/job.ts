import type { RowOf } from '../db/row.ts';
import type { Position } from '../resources/page.ts';
import type { FieldType } from '../where/index.ts';

/** A column of a file. Dots in its name lead into nested records. */
export interface FileColumn {
  readonly name: string;
  readonly type: FieldType;
  /** Format of the field, see `DECIMAL_TEXT`. */
  readonly format?: string;
}

/** Selection of rows of a job, as texts of the query language. */
export interface BulkQuery {
  readonly where?: string;
  /** Second condition: bounds on the time of change. */
  readonly also?: string;
  readonly fields?: string;
  readonly orderBy?: string;
  /** Maximum number of rows. */
  readonly limit?: number;
}

export type UploadAction = 'create' | 'update' | 'upsert' | 'delete';

/** Upload of a bulk job: how the rows of its file are written. */
export interface BulkUpload {
  readonly action: UploadAction;
  /** Name of the field that identifies the record of a row. For `create` it is the id field. */
  readonly identifier: string;
  /** Names in the CSV header. Absent for NDJSON, whose rows name their fields. */
  readonly columns?: readonly string[];
  /** Byte offset at which the first row begins. */
  readonly beginByte: number;
  readonly byteCount: number;
}

/** Position of an upload: the next or current batch of rows, or the provider's job that has the rows from there on. */
export interface InputPosition {
  /** Byte offset at which the batch begins. */
  readonly byte: number;
  /** Number of rows before the batch. */
  readonly row: number;
  /** Number of the last row of the batch; absent before the batch is cut. */
  readonly last?: number;
  /** Numbers of the rows in the batch that have no outcome yet. */
  readonly open: readonly number[];
  /** Open rows that may have been sent. */
  readonly doubtful: readonly number[];
  /** Number of times the open rows were tried. */
  readonly tries: number;
  /** Rows that are written by single calls where others would be left to jobs of the provider. */
  readonly single?: SingleRows;
  readonly load?: NativeLoad;
}

export interface SingleRows {
  /** Last row number that the single calls include. */
  readonly last: number;
  /** Numbers of these rows that have no outcome yet; absent means all. */
  readonly rows?: readonly number[];
  /** Whether the rows may have been written. */
  readonly isDoubtful: boolean;
}

/** A job of the provider that was begun for rows of an upload. */
export interface NativeLoad {
  /** Id of the job at the provider. */
  readonly id: string;
  /** The number of its last row. */
  readonly last: number;
  /** Byte offset at which the last row ends. */
  readonly endByte: number;
  /** Digest of the rows as sent. It shows whether rows that are read again later are the same. */
  readonly digest: string;
  /** Whether the rows were sent and the job was closed. If false, that is not known. */
  readonly isClosed: boolean;
  /** Number of requests for the state of the provider's job. */
  readonly looks: number;
}

export type BulkFormat = BulkJob['format'];

/** Key of a job within its account. */
export type JobKey = RowOf<'bulk_job', 'account_id' | 'id'>;

/** A job as it is stored. */
export interface BulkJob extends Omit<RowOf<'bulk_job'>, 'query' | 'upload' | 'fields' | 'position' | 'inputPosition'> {
  readonly query: BulkQuery;
  /** Settings of an upload; null for a download. */
  readonly upload: BulkUpload | null;
  readonly fields: readonly FileColumn[] | null;
  readonly position: Position | null;
  readonly inputPosition: InputPosition | null;
}

/** A job whose lease this process holds. */
export interface ClaimedJob extends BulkJob {
  /** Id of the lease. Every statement that stores data of the job checks it. */
  readonly lease: string;
}

/** Progress of a job, including all that is stored of its file. */
export type JobProgress = Pick<
  BulkJob,
  'fields' | 'walkKey' | 'position' | 'inputPosition' | 'recordCount' | 'failedCount' | 'byteCount' | 'estimatedTotal'
>;

/** Files of a job: its result (rows or outcomes of rows), and the input of an upload. */
export type BulkFileName = RowOf<'bulk_chunk'>['file'];

/** A part of a file. */
export interface NewChunk {
  readonly startByte: number;
  readonly byteCount: number;
  /** Compressed bytes of the chunk. */
  readonly data: Buffer;
}

export type RowOutcome = RowOf<'bulk_row_error'>['outcome'];

/** Error of a row that failed, or that may have been written twice. */
export type RowError = RowOf<
  'bulk_row_error',
  'row_number' | 'outcome' | 'is_doubtful' | 'code' | 'message' | 'start_byte' | 'end_byte'
>;

/** Reason why a job failed, for its caller. */
export interface JobFault {
  readonly code: string;
  readonly message: string;
}

/** This process lost the job: another process claimed it, it was cancelled or deleted, or its instance changed. */
export class JobLost extends Error {
  override readonly name = 'JobLost';
}
