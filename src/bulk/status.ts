import type { BulkJob } from './job.ts';

/** A job as the API and its event show it. */
export interface BulkStatus {
  readonly id: number;
  readonly status: BulkJob['status'];
  readonly instanceId: number;
  readonly objectName: string;
  readonly jobDirection: BulkJob['direction'];
  readonly recordsCount: number;
  readonly recordsFailedCount: number;
  readonly fileFormat: BulkJob['format'];
  /** Size of the file so far, in bytes. */
  readonly fileSize: number;
  readonly fileName: string;
  readonly createdDate: string;
  readonly bulkStartTime?: string;
  readonly bulkFinishTime?: string;
  readonly code?: string;
  readonly message?: string;
  readonly progress?: {
    readonly rows: number;
    readonly providerCalls: number;
    readonly estimatedTotal?: number;
    /** The way in which the rows are found or written. It is absent before that is decided. */
    readonly way?: 'native' | 'paging' | 'rows';
    readonly providerJobId?: string;
  };
}

export function statusOf(job: BulkJob): BulkStatus {
  const { startedAt, finishedAt, code, message, estimatedTotal, nativeJob } = job;
  return {
    id: job.id,
    status: job.status,
    instanceId: job.instanceId,
    objectName: job.objectName,
    jobDirection: job.direction,
    recordsCount: job.recordCount,
    recordsFailedCount: job.failedCount,
    fileFormat: job.format,
    fileSize: job.byteCount,
    fileName: fileNameOf(job),
    createdDate: job.createdAt.toISOString(),
    ...(startedAt !== null && { bulkStartTime: startedAt.toISOString() }),
    ...(finishedAt !== null && { bulkFinishTime: finishedAt.toISOString() }),
    ...(code !== null && { code }),
    ...(message !== null && { message }),
    ...(startedAt !== null && {
      progress: {
        rows: job.recordCount,
        providerCalls: job.providerCalls,
        ...(estimatedTotal !== null && { estimatedTotal }),
        ...wayOf(job),
        ...(nativeJob !== null && { providerJobId: nativeJob }),
      },
    }),
  };
}

function wayOf(job: BulkJob): Pick<NonNullable<BulkStatus['progress']>, 'way'> {
  const { direction, walkKey, inputPosition, nativeJob } = job;
  if (walkKey === null && inputPosition === null) return {};
  if (nativeJob !== null) return { way: 'native' };
  return { way: direction === 'DOWNLOAD' ? 'paging' : 'rows' };
}

export function fileNameOf({ fileName, objectName, id, format }: BulkJob): string {
  return fileName ?? `${objectName.replaceAll('/', '-')}-${id}.${format}`;
}
