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

export type BulkFormat = BulkJob['format'];

/** Which job. */
export type JobKey = RowOf<'bulk_job', 'account_id' | 'id'>;

/** A job as it is stored. */
export interface BulkJob extends Omit<RowOf<'bulk_job'>, 'query' | 'fields' | 'position'> {
  readonly query: BulkQuery;
  readonly fields: readonly FileColumn[] | null;
  readonly position: Position | null;
}

/** A job that is this process's for now. */
export interface ClaimedJob extends BulkJob {
  /** Fences what is stored for it. */
  readonly lease: string;
}

/** How far a job is, with all that is stored of its file. */
export type JobProgress = Pick<
  BulkJob,
  'fields' | 'walkKey' | 'position' | 'recordCount' | 'byteCount' | 'estimatedTotal'
>;

/** A part of a file. */
export interface NewChunk {
  readonly startByte: number;
  readonly byteCount: number;
  /** Compressed. */
  readonly data: Buffer;
}

/** Why a job failed, for its caller. */
export interface JobFault {
  readonly code: string;
  readonly message: string;
}

/** Another process has the job, it was cancelled or deleted, or its instance is not what it was. */
export class JobLost extends Error {
  override readonly name = 'JobLost';
}
