import type { Clock } from '../clock.ts';
import type { Position } from '../resources/page.ts';
import type { Row } from '../where/index.ts';
import type { BulkStore, Checkpoint } from './bulk-store.ts';
import { createChunkBuffer, packChunks } from './chunks.ts';
import { createRowPrinter } from './convert.ts';
import { type BulkJob, type ClaimedJob, JobLost, type JobProgress } from './job.ts';

/** A job whose first row is known, or that already has rows. */
export interface BegunJob extends JobProgress {
  readonly fields: NonNullable<BulkJob['fields']>;
  readonly position: Position;
}

interface WriterPorts {
  readonly store: Pick<BulkStore, 'transaction' | 'checkpoint'>;
  readonly clock: Pick<Clock, 'steady'>;
  readonly options: {
    /** Number of bytes of a file that are collected before they are stored. */
    readonly chunkBytes: number;
  };
}

/** Counts of a slice. */
export interface CallCount {
  /** Calls that no checkpoint counts yet. */
  providerCalls: number;
  /** Rows that a checkpoint counts. */
  rows: number;
}

/** The writer of a job's file. */
export type FileWriter = ReturnType<typeof createFileWriter>;

/** Writes the file of a job. A checkpoint always ends after a complete row, so that the file never contains a partial one. */
export function createFileWriter(
  { store, clock, options }: WriterPorts,
  input: {
    readonly job: ClaimedJob;
    readonly begun: BegunJob;
    readonly calls: CallCount;
    readonly signal: AbortSignal;
  },
) {
  const { job, begun, calls, signal } = input;
  const { fields, walkKey } = begun;
  const printer = createRowPrinter(job.format, fields);
  const buffer = createChunkBuffer(options.chunkBytes);
  let { recordCount, byteCount, estimatedTotal } = begun;
  let stored = begun.position;
  let storedAtMs = clock.steady();
  let storing: Promise<void> = Promise.resolve();
  if (recordCount === 0 && byteCount === 0) buffer.write(printer.header);

  /** Returns a checkpoint of everything that was written so far. */
  async function pack(position: Position | null): Promise<Checkpoint> {
    const { providerCalls } = calls;
    calls.providerCalls = 0;
    calls.rows = recordCount - begun.recordCount;
    const bytes = buffer.take();
    const startByte = byteCount;
    byteCount += bytes.length;
    const progress = { fields, walkKey, position, recordCount, byteCount, estimatedTotal };
    const chunks = await packChunks(bytes, startByte);
    buffer.give(bytes);
    return { ...progress, inputPosition: null, failedCount: 0, providerCalls, chunks };
  }

  async function storeNext(next: Position): Promise<void> {
    storedAtMs = clock.steady();
    stored = next;
    const packed = pack(next);
    const before = storing;
    storing = before.then(async () => {
      const step = await packed;
      signal.throwIfAborted();
      await fenced(store, (via) => store.checkpoint(via, job, step));
    });
    // The next call of store or settle reports the error.
    storing.catch(() => undefined);
    packed.catch(() => undefined);
    await before;
  }

  return {
    write: (row: Row) => {
      buffer.write(printer.print(row));
      recordCount++;
    },
    /** Returns whether enough is written to be stored. */
    isFull: buffer.isFull,
    /** Returns the milliseconds since the last storing. */
    idleMs: () => clock.steady() - storedAtMs,
    recordCount: () => recordCount,
    hasStored: () => stored !== begun.position,
    estimate: (total: number) => {
      estimatedTotal = total;
    },
    /**
     * Stores what was written, with the position of the row behind it. Resolves when the chunks before are stored, so that reading and
     * storing overlap.
     * @throws JobLost
     */
    store: storeNext,
    /** Stores what was written and waits until it is stored. Does nothing if everything is stored already. */
    settle: async (next: Position) => {
      if (next !== stored) await storeNext(next);
      await storing;
    },
    /** Returns the last step for the caller to store. Everything before it is stored. */
    finish: async () => {
      await storing;
      return pack(null);
    },
  };
}

/**
 * Runs a transaction that is rolled back if this process lost the job.
 * @throws JobLost
 */
export async function fenced(
  { transaction }: Pick<BulkStore, 'transaction'>,
  work: (via: Parameters<BulkStore['checkpoint']>[0]) => Promise<boolean>,
): Promise<void> {
  await transaction(async (via) => {
    if (!(await work(via))) throw new JobLost();
  });
}
