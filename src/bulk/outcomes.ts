import type { BulkStore } from './bulk-store.ts';
import { packChunks, unpackChunk } from './chunks.ts';
import { createRowPrinter } from './convert.ts';
import type { BulkJob, FileColumn, NewChunk, RowOutcome } from './job.ts';

/** The outcome of a row, as it stands in the file of an upload. */
export interface StoredOutcome {
  readonly row: number;
  /** Id of the record; null if unknown. */
  readonly id: string | null;
  readonly outcome: RowOutcome;
  /** Whether the row was sent several times as a new record, so that there may be two records of it. */
  readonly doubtful: boolean;
  readonly code: string | null;
  readonly message: string | null;
}

export const OUTCOME_COLUMNS: readonly FileColumn[] = [
  { name: 'row', type: 'integer' },
  { name: 'id', type: 'string' },
  { name: 'outcome', type: 'string' },
  { name: 'doubtful', type: 'boolean' },
  { name: 'code', type: 'string' },
  { name: 'message', type: 'string' },
];

/** Size of a full chunk of the file in bytes. The last chunk is rewritten with each batch until it is full. */
const FULL_BYTES = 64 * 1024;

/** Opens the file of an upload's outcomes at its end, to add more. */
export async function openOutcomeFile(store: Pick<BulkStore, 'findChunk'>, job: BulkJob) {
  const printer = createRowPrinter(job.format, OUTCOME_COLUMNS);
  const last = job.byteCount === 0 ? undefined : await store.findChunk(job, 'result', job.byteCount - 1);
  const isOpen = last !== undefined && last.byteCount < FULL_BYTES;
  let startByte = isOpen ? last.startByte : job.byteCount;
  let tail = isOpen ? await unpackChunk(last.data) : Buffer.alloc(0);
  let text = job.byteCount === 0 ? printer.header : '';

  return {
    add: (outcome: StoredOutcome) => {
      text += printer.print({ ...outcome });
    },
    /** Returns the chunks to store since the last call. */
    pack: async (): Promise<readonly NewChunk[]> => {
      if (text === '') return [];
      tail = Buffer.concat([tail, Buffer.from(text)]);
      text = '';
      const chunks = await packChunks(tail, startByte);
      if (tail.length >= FULL_BYTES) {
        startByte += tail.length;
        tail = Buffer.alloc(0);
      }
      return chunks;
    },
    /** Returns the size in bytes of all packed outcomes. */
    byteCount: () => startByte + tail.length,
  };
}
