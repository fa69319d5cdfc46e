import type { PoolShares } from '../db/pool-shares.ts';
import type { BulkStore, StoredJob } from './bulk-store.ts';
import { unpackChunk } from './chunks.ts';
import { convertFile, type Rendition, STORED_TYPES } from './convert.ts';
import type { BulkFileName, BulkJob } from './job.ts';

/** A complete file. */
export type BulkFile = ReturnType<typeof openFile>;

export interface FilePorts {
  readonly store: Pick<BulkStore, 'findChunk'>;
  readonly shares: Pick<PoolShares, 'lookUp'>;
}

/** Reads the bytes of a file from `begin` up to, not including, `end`. Iteration throws if the job was deleted meanwhile. */
export function bytesReader({ store, shares }: FilePorts, job: StoredJob, file: BulkFileName) {
  const find = (byte: number) => {
    const chunk = shares.lookUp(job.accountId, () => store.findChunk(job, file, byte));
    // A caller who closes the connection does not wait for the next chunk.
    chunk.catch(() => undefined);
    return chunk;
  };

  /** Reads chunks one ahead: the next one is requested while the current one is sent. */
  return async function* bytes(begin: number, end: number): AsyncGenerator<Buffer, void> {
    let next = begin < end ? find(begin) : undefined;
    for (let at = begin; next !== undefined; ) {
      const chunk = await next;
      if (chunk === undefined) throw new Error(`The file of bulk job ${job.id} was deleted while it was read`);
      const { startByte, byteCount, data } = chunk;
      const chunkEnd = startByte + byteCount;
      next = chunkEnd < end ? find(chunkEnd) : undefined;
      const whole = await unpackChunk(data);
      yield whole.subarray(at - startByte, end - startByte);
      at = chunkEnd;
    }
  };
}

/** Opens the result file of a job. */
export function openFile(ports: FilePorts, job: BulkJob) {
  const bytes = bytesReader(ports, job, 'result');

  async function* texts(): AsyncGenerator<string, void> {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    for await (const part of bytes(0, job.byteCount)) yield decoder.decode(part, { stream: true });
    yield decoder.decode();
  }

  return {
    job,
    /** Size of the file as stored, in bytes. */
    byteCount: job.byteCount,
    bytes,
    /** Returns the file in a form that is not stored. */
    convert: (form: Rendition) => convertFile(texts(), { format: job.format, fields: job.fields ?? [] }, form),
  };
}

/** Returns whether the file is stored in this form. */
export function isStored({ format }: Pick<BulkJob, 'format'>, { type, isDefused }: Rendition): boolean {
  return STORED_TYPES[format] === type && !isDefused;
}
