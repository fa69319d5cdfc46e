import type { BulkJob } from './job.ts';

/** Returns a job as the API and its event show it. */
export function statusOf(job: BulkJob) {
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
    /** Size of the file so far, in bytes. */
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
        way: wayOf(job),
        ...(nativeJob !== null && { providerJobId: nativeJob }),
      },
    }),
  };
}

/** Returns the way in which the rows are found or written. Undefined before that is decided. */
function wayOf({ direction, walkKey, inputPosition, nativeJob }: BulkJob): 'native' | 'paging' | 'rows' | undefined {
  if (walkKey === null && inputPosition === null) return undefined;
  if (nativeJob !== null) return 'native';
  return direction === 'DOWNLOAD' ? 'paging' : 'rows';
}

export function fileNameOf({ fileName, objectName, id, format }: BulkJob): string {
  return fileName ?? `${objectName.replaceAll('/', '-')}-${id}.${format}`;
}
