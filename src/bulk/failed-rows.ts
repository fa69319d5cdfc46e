import type { PoolShares } from '../db/pool-shares.ts';
import { AppError } from '../errors.ts';
import { prepareSql } from '../where/index.ts';
import { type BulkStore, FILTERABLE_ROW_ERROR, type RowErrorFilter } from './bulk-store.ts';
import { bytesReader, type FilePorts } from './file.ts';
import type { BulkJob, RowError } from './job.ts';

/** The failed rows of an upload, unchanged. */
export type FailedRows = ReturnType<typeof openFailedRows>;

interface FailedRowsPorts extends FilePorts {
  readonly store: Pick<BulkStore, 'findChunk' | 'listRowErrors'>;
  readonly shares: Pick<PoolShares, 'lookUp' | 'list'>;
}

/** Rows that are looked up at a time. */
const PAGE = 500;
const NEWLINE = 0x0a;
const END_OF_ROW = Buffer.from('\r\n');

/**
 * Opens the failed rows of an upload.
 * @throws AppError NOT_FOUND for a download; WHERE_SYNTAX, WHERE_INVALID
 */
export function openFailedRows(ports: FailedRowsPorts, job: BulkJob, where: string | undefined) {
  const { upload } = job;
  if (upload === null) throw new AppError('NOT_FOUND', `Job ${job.id} is a download, so it has no failed rows.`);
  const condition = where === undefined ? undefined : prepareSql(where, FILTERABLE_ROW_ERROR);
  const read = bytesReader(ports, job, 'input');
  const { beginByte } = upload;

  /** Reads bytes and adds a line end, because the last row of a file may have none. */
  async function* ended(begin: number, end: number): AsyncGenerator<Buffer, void> {
    let last: number | undefined;
    for await (const part of read(begin, end)) {
      yield part;
      last = part.at(-1) ?? last;
    }
    if (last !== undefined && last !== NEWLINE) yield END_OF_ROW;
  }

  async function* pieces(): AsyncGenerator<Buffer, void> {
    // Before the first row is the header.
    if (beginByte > 0) yield* upload?.columns === undefined ? read(0, beginByte) : ended(0, beginByte);
    for (let afterRow: number | undefined = 0; afterRow !== undefined; ) {
      const filter: RowErrorFilter = { condition, afterRow, onlyFailed: true, limit: PAGE };
      const rows: readonly RowError[] = await ports.shares.list(job.accountId, (via) =>
        ports.store.listRowErrors(via, job, filter),
      );
      for (const { startByte, endByte } of rows) yield* ended(startByte, endByte);
      afterRow = rows.length < PAGE ? undefined : rows.at(-1)?.rowNumber;
    }
  }

  return { job, pieces };
}
