import type { RowOf } from '../db/row.ts';
import type { Position } from '../resources/page.ts';
import type { FieldType } from '../where/index.ts';

/** A column of a file. Its name leads by dots into nested records. */
export interface FileColumn {
  readonly name: string;
  readonly type: FieldType;
  /** Of the field, see `DECIMAL_TEXT`. */
  readonly format?: string;
}

/** What rows a job is about, as texts of the query language. */
export interface BulkQuery {
  readonly where?: string;
  /** Bounds of the time of change. */
  readonly also?: string;
  readonly fields?: string;
  readonly orderBy?: string;
  /** Rows at most. */
  readonly limit?: number;
}

export type UploadAction = 'create' | 'update' | 'upsert' | 'delete';

/** What an upload does with the rows of its file. */
export interface BulkUpload {
  readonly action: UploadAction;
  /** Finds the record of a row; of what is created it is the field of the id. */
  readonly identifier: string;
  /** The header of CSV; absent for NDJSON, whose rows name their fields themselves. */
  readonly columns?: readonly string[];
  /** Where the first row begins. */
  readonly beginByte: number;
  readonly byteCount: number;
}

/** Where an upload is: the batch of rows that is next, or under way, or the job of the provider that has rows from there on. */
export interface InputPosition {
  /** Where it begins. */
  readonly byte: number;
  /** Rows before it. */
  readonly row: number;
  /** The number of its last row; absent: it is not cut yet. */
  readonly last?: number;
  /** Rows of it that have no outcome yet, by number. */
  readonly open: readonly number[];
  /** Those of them that may have been sent. */
  readonly doubtful: readonly number[];
  /** How often they were tried. */
  readonly tries: number;
  /** Rows that are written by single calls where others would be left to jobs of the provider. */
  readonly single?: SingleRows;
  readonly load?: NativeLoad;
}

export interface SingleRows {
  /** Up to the row of this number. */
  readonly last: number;
  /** Those of them that have no outcome yet, by number; absent: all. */
  readonly rows?: readonly number[];
  /** They may have been written. */
  readonly isDoubtful: boolean;
}

/** A job of the provider that was begun for rows of an upload. */
export interface NativeLoad {
  /** The provider's. */
  readonly id: string;
  /** The number of its last row. */
  readonly last: number;
  /** Where that ends. */
  readonly endByte: number;
  /** Of the rows as they were to be sent: whether what is read again later is the same. */
  readonly digest: string;
  /** They were sent, and the job closed; otherwise nobody knows. */
  readonly isClosed: boolean;
  /** How often it was asked for its state. */
  readonly looks: number;
}

export type BulkFormat = BulkJob['format'];

/** Which job. */
export type JobKey = RowOf<'bulk_job', 'account_id' | 'id'>;

/** A job as it is stored. */
export interface BulkJob extends Omit<RowOf<'bulk_job'>, 'query' | 'upload' | 'fields' | 'position' | 'inputPosition'> {
  readonly query: BulkQuery;
  /** Null: it is a download. */
  readonly upload: BulkUpload | null;
  readonly fields: readonly FileColumn[] | null;
  readonly position: Position | null;
  readonly inputPosition: InputPosition | null;
}

/** A job that is this process's for now. */
export interface ClaimedJob extends BulkJob {
  /** Fences what is stored for it. */
  readonly lease: string;
}

/** How far a job is, with all that is stored of its file. */
export type JobProgress = Pick<
  BulkJob,
  'fields' | 'walkKey' | 'position' | 'inputPosition' | 'recordCount' | 'failedCount' | 'byteCount' | 'estimatedTotal'
>;

/** What a job makes: rows, or the outcomes of rows; and what an upload was given. */
export type BulkFileName = RowOf<'bulk_chunk'>['file'];

/** A part of a file. */
export interface NewChunk {
  readonly startByte: number;
  readonly byteCount: number;
  /** Compressed. */
  readonly data: Buffer;
}

export type RowOutcome = RowOf<'bulk_row_error'>['outcome'];

/** What is told of a row that failed, or may have been written twice. */
export type RowError = RowOf<
  'bulk_row_error',
  'row_number' | 'outcome' | 'is_doubtful' | 'code' | 'message' | 'start_byte' | 'end_byte'
>;

/** Why a job failed, for its caller. */
export interface JobFault {
  readonly code: string;
  readonly message: string;
}

/** Another process has the job, it was cancelled or deleted, or its instance is not what it was. */
export class JobLost extends Error {
  override readonly name = 'JobLost';
}
