import type { Clock } from '../clock.ts';
import type { BulkStore } from './bulk-store.ts';
import { bytesReader, type FilePorts } from './file.ts';
import type { CallCount } from './file-writer.ts';
import { BrokenFile, type InputRow, ROW_READERS } from './input-file.ts';
import {
  type BulkUpload,
  type ClaimedJob,
  type InputPosition,
  type JobFault,
  JobLost,
  type SingleRows,
} from './job.ts';
import { batchAt, createLoad, doubtfulAt, type LoadInput, type LoadPorts } from './native-load.ts';
import type { StoredOutcome } from './outcomes.ts';
import { createSlice, type SliceEnd, type SliceInput, type SliceOptions } from './slice.ts';
import { openProgress } from './upload-progress.ts';
import { createRowWriter, failureOf, isRepeatable, type WritePorts, type WrittenRow } from './write-rows.ts';

export interface UploadPorts extends FilePorts, Omit<LoadPorts, 'resources'> {
  readonly resources: WritePorts['resources'] & LoadPorts['resources'];
  readonly store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'findChunk'>;
  readonly clock: Clock;
  readonly options: UploadOptions;
}

export interface UploadOptions extends SliceOptions {
  /**
   * Maximum number of rows in a batch and their size in bytes. After a crash, the outcomes of a batch are unknown. A single row can be
   * larger.
   */
  readonly batchRows: number;
  readonly batchBytes: number;
  /** Number of rows of a batch that are written at the same time. */
  readonly batchWidth: number;
  /** Number of attempts for a row at which the provider fails although it accepts others of its batch. */
  readonly rowTries: number;
}

interface Batch {
  readonly begin: Pick<InputPosition, 'byte' | 'row'>;
  /** Position at which the next batch begins. */
  readonly end: Pick<InputPosition, 'byte' | 'row' | 'single'>;
  /** Rows without an outcome. */
  readonly rows: readonly InputRow[];
  /** Number of rows in the batch, including those with an outcome. */
  readonly size: number;
  /** The number of its last row; absent: there are no more. */
  readonly last?: number;
  /** State of the rows that are sent one by one, as it is stored with the batch. */
  readonly single?: SingleRows | undefined;
  readonly fault?: JobFault;
  /** Whether the next rows are written in another way. */
  readonly isBehind: boolean;
}

/**
 * Continues an upload. Jobs of the provider write its rows if it has such jobs and there are enough rows, otherwise single calls. `calls`
 * is up to date even if it throws.
 * @throws JobLost; AppError as calls of the provider; the reason of the signal; errors of the database
 */
export async function upload(ports: UploadPorts, input: SliceInput, calls: CallCount): Promise<SliceEnd> {
  const { instance, signal, writeSignal, mayWrite } = input;
  const job = assertUpload(input.job);
  const object = await ports.resources.getObject({ instance, objectName: job.objectName, signal });
  const progress = await openProgress(ports.store, job, calls);
  const slice = createSlice(ports, input);
  const work: UploadSlice = { job, instance, object, calls, signal, writeSignal, mayWrite, progress, slice };
  const load = createLoad(ports, work);
  let position = job.inputPosition ?? batchAt({ byte: job.upload.beginByte, row: 0 });
  // The mapping or the object changed meanwhile, so no job can be started or read any more.
  if (load === undefined && position.load !== undefined) position = doubtfulAt(position, position.load);
  for (;;) {
    if (load === undefined || isForSingles(position)) {
      const end = await writeBatches(ports, work, { begun: position, isWhole: load === undefined });
      if ('kind' in end) return end;
      position = end;
    } else {
      const stop = slice.stopEarly(progress.hasAdvanced());
      if (stop !== undefined) {
        await progress.advance(position);
        return { kind: 'later', ...stop };
      }
      const after = await load(position);
      if ('kind' in after) return after;
      position = after;
    }
  }
}

interface UploadSlice extends LoadInput, Pick<SliceInput, 'writeSignal' | 'mayWrite'> {
  readonly job: UploadJob;
  readonly slice: ReturnType<typeof createSlice>;
}

/** A batch of them is under way, or some are left to them. */
function isForSingles({ last, single }: InputPosition): boolean {
  return last !== undefined || single !== undefined;
}

interface BatchesBegun {
  readonly begun: InputPosition;
  /** Whether all following rows are written in this way, because there is no other. */
  readonly isWhole: boolean;
}

/**
 * Writes rows by single calls, batch by batch. One transaction stores the outcome of a batch and which rows are sent next, so that after a crash
 * exactly those are in doubt. @returns the end of the turn, or where rows begin that are to be written in another way
 */
async function writeBatches(
  ports: UploadPorts,
  work: UploadSlice,
  { begun, isWhole }: BatchesBegun,
): Promise<SliceEnd | InputPosition> {
  const { options } = ports;
  const { job, signal, progress, slice } = work;
  const writeRows = createRowWriter(ports, { ...work, width: options.batchWidth });
  const batches = createBatches(ports, { job, begun, isWhole, signal });

  try {
    let { doubtful, tries } = begun;
    for (;;) {
      const { begin, end, rows, size, last, single, fault, isBehind } = await batches.next();
      if (last === undefined) {
        if (isBehind) return batchAt(begin);
        const lastStep = await progress.finish(batchAt(begin));
        return { kind: 'done', last: lastStep, fault };
      }
      const reached = { ...begin, last, single };
      const numbers = rows.map(({ number }) => number);
      const stop = slice.stopEarly(progress.hasAdvanced());
      if (stop !== undefined) {
        await progress.advance({ ...reached, open: numbers, doubtful, tries });
        return { kind: 'later', ...stop };
      }
      tries++;
      // If it goes no further than this, any of them may have been sent.
      await progress.advance({ ...reached, open: numbers, doubtful: numbers, tries });
      const before = new Set(single?.isDoubtful ? numbers : doubtful);
      const written = await writeRows(rows.map((row) => ({ row, isDoubtful: before.has(row.number) })));
      if (signal.reason instanceof JobLost) throw signal.reason;
      const open = openRows(written);
      const isPoisoned = tries >= options.rowTries && open.length < size;
      for (const [index, row] of rows.entries()) {
        const result = written[index];
        if (result?.kind === 'settled') progress.settle(row, result.outcome);
        else if (isPoisoned && !signal.aborted) progress.settle(row, failureOfOpen(job, row, result));
      }
      const [first] = open;
      if (first !== undefined && (!isPoisoned || signal.aborted)) {
        const sent = open.filter(({ index, mayBeWritten }) => mayBeWritten || before.has(numbers[index] ?? 0));
        const numberOf = ({ index }: OpenRow) => numbers[index] ?? 0;
        await progress.advance({ ...reached, open: open.map(numberOf), doubtful: sent.map(numberOf), tries });
        throw first.error;
      }
      [doubtful, tries] = [[], 0];
      // All of the batch came to its end meanwhile.
      if (signal.aborted) {
        await progress.advance({ ...end, open: [], doubtful, tries });
        throw signal.reason;
      }
    }
  } finally {
    await batches.close();
  }
}

type UploadJob = ClaimedJob & { readonly upload: BulkUpload };

function assertUpload(job: ClaimedJob): UploadJob {
  const { upload } = job;
  if (upload === null) throw new Error(`Bulk job ${job.id} is no upload`);
  return { ...job, upload };
}

type OpenRow = Extract<WrittenRow, { kind: 'open' }> & { readonly index: number };

function openRows(written: readonly WrittenRow[]): readonly OpenRow[] {
  return written.flatMap((result, index) => (result.kind === 'open' ? [{ ...result, index }] : []));
}

function failureOfOpen({ upload }: UploadJob, { number }: InputRow, result: WrittenRow | undefined): StoredOutcome {
  const { error, mayBeWritten } = result?.kind === 'open' ? result : { error: undefined, mayBeWritten: true };
  return { row: number, ...failureOf(error), doubtful: mayBeWritten && !isRepeatable(upload) };
}

/** The rows of the file that single calls write, batch by batch; the first one is what is left of the one that is under way. */
function createBatches(
  ports: UploadPorts,
  { job, begun, isWhole, signal }: BatchesBegun & { readonly job: UploadJob; readonly signal: AbortSignal },
) {
  const { batchRows, batchBytes } = ports.options;
  const { byteCount, columns = [] } = job.upload;
  const { single } = begun;
  const wanted = single?.rows && new Set(single.rows);
  const bytes = bytesReader(ports, job, 'input')(begun.byte, byteCount);
  const rows = ROW_READERS[job.format](bytes, { ...begun, columns: columns.length }, signal);
  let reached: Batch['begin'] = { byte: begun.byte, row: begun.row };
  let ahead: InputRow | undefined;
  let fault: JobFault | undefined;
  let rest = begun.last === undefined ? undefined : { last: begun.last, open: new Set(begun.open) };
  // After a batch of single rows, the next rows may be written in another way.
  const lastRow = single?.last ?? (isWhole ? Number.POSITIVE_INFINITY : (begun.last ?? 0));

  async function read(): Promise<InputRow | undefined> {
    const row = ahead;
    ahead = undefined;
    if (row !== undefined || fault !== undefined) return row;
    try {
      const { value } = await rows.next();
      return value ?? undefined;
    } catch (error) {
      if (!(error instanceof BrokenFile)) throw error;
      fault = { code: 'REQUEST_INVALID', message: error.message };
      return undefined;
    }
  }

  /** The next one that single calls write; those before it have an outcome. */
  async function readWanted(): Promise<InputRow | undefined> {
    while (reached.row < lastRow) {
      const row = await read();
      if (row === undefined) return undefined;
      if (wanted?.has(row.number) !== false) return row;
      reached = { byte: row.endByte, row: row.number };
    }
    return undefined;
  }

  /** The rest of a batch keeps the bounds of the batch. */
  async function takeRest(last: number): Promise<readonly InputRow[]> {
    const taken: InputRow[] = [];
    for (let row = await read(); row !== undefined; row = await read()) {
      if (wanted?.has(row.number) !== false) taken.push(row);
      reached = { byte: row.endByte, row: row.number };
      if (row.number === last) break;
    }
    return taken;
  }

  async function takeRows(): Promise<readonly InputRow[]> {
    const taken: InputRow[] = [];
    let size = 0;
    while (taken.length < batchRows) {
      const row = await readWanted();
      if (row === undefined) break;
      size += row.endByte - row.startByte;
      if (taken.length > 0 && size > batchBytes) {
        ahead = row;
        break;
      }
      taken.push(row);
      reached = { byte: row.endByte, row: row.number };
    }
    return taken;
  }

  /** Rows that have an outcome need not be named any more. */
  function singleFrom(row: number): SingleRows | undefined {
    return single?.rows === undefined ? single : { ...single, rows: single.rows.filter((number) => number > row) };
  }

  async function next(): Promise<Batch> {
    const begin = reached;
    const kept = rest;
    rest = undefined;
    const taken = kept === undefined ? await takeRows() : await takeRest(kept.last);
    const last = taken.at(-1);
    const left = kept === undefined ? taken : taken.filter(({ number }) => kept.open.has(number));
    // All of it had come to its end.
    if (kept !== undefined && left.length === 0) return next();
    const behind = reached.row + 1;
    return {
      begin: last === undefined ? reached : begin,
      end: { ...reached, single: singleFrom(reached.row) },
      rows: left,
      size: taken.length,
      last: last?.number,
      single: singleFrom(begin.row),
      isBehind: reached.row >= lastRow,
      fault: fault && {
        ...fault,
        message: `Row ${behind} ${fault.message}. This row and all rows after it were not written.`,
      },
    };
  }

  return { next, close: async () => void (await rows.return()) };
}
