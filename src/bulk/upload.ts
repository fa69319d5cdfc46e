import type { Clock } from '../clock.ts';
import type { BulkStore, Checkpoint } from './bulk-store.ts';
import { bytesReader, type FilePorts } from './file.ts';
import { type CallCount, fenced } from './file-writer.ts';
import { BrokenFile, type InputRow, ROW_READERS } from './input-file.ts';
import { type BulkUpload, type ClaimedJob, type InputPosition, type JobFault, JobLost, type RowError } from './job.ts';
import { OUTCOME_COLUMNS, type Outcome, openOutcomeFile } from './outcomes.ts';
import { createSlice, type SliceOptions, type TurnEnd, type TurnInput } from './slice.ts';
import { createRowWriter, failureOf, isRepeatable, type WritePorts, type WrittenRow } from './write-rows.ts';

export interface UploadPorts extends FilePorts, WritePorts {
  readonly store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'findChunk'>;
  readonly clock: Clock;
  readonly options: UploadOptions;
}

export interface UploadOptions extends SliceOptions {
  /** Rows of a batch, and their bytes: so many are in doubt after a crash. A single row may be larger. */
  readonly batchRows: number;
  readonly batchBytes: number;
  /** Rows of a batch that are written at a time. */
  readonly batchWidth: number;
  /** A row that the provider cannot answer, though it does others of its batch, has failed after so many tries. */
  readonly rowTries: number;
}

interface Batch {
  readonly begin: Pick<InputPosition, 'byte' | 'row'>;
  /** Where the next one begins. */
  readonly end: Batch['begin'];
  readonly rows: readonly InputRow[];
  readonly fault?: JobFault;
}

/**
 * Goes on with an upload: writes its rows batch by batch. One transaction stores what came of a batch and which rows are sent next, so that
 * after a crash exactly those are in doubt. `calls` is kept up to date also when it throws.
 * @throws JobLost; AppError as calls of the provider do; the reason of the signal; what the database says
 */
export async function upload(ports: UploadPorts, input: TurnInput, calls: CallCount): Promise<TurnEnd> {
  const { resources, store, options } = ports;
  const { instance, signal, writeSignal } = input;
  const job = assertUpload(input.job);
  const { objectName } = job;
  const object = await resources.getObject({ instance, objectName, signal });
  const writeRows = createRowWriter(ports, {
    job,
    instance,
    object,
    calls,
    signal,
    writeSignal,
    width: options.batchWidth,
  });
  const slice = createSlice(ports, input);
  const file = await openOutcomeFile(store, job);
  const begun = job.inputPosition ?? { byte: job.upload.beginByte, row: 0, open: [], doubtful: [], tries: 0 };
  const batches = createBatches(ports, { job, begun, signal });
  let { recordCount, failedCount } = job;
  let waiting: readonly RowError[] = [];
  let hasAdvanced = false;

  async function step(inputPosition: InputPosition): Promise<Checkpoint> {
    const { providerCalls } = calls;
    calls.providerCalls = 0;
    const isProgress = hasAdvanced;
    const chunks = await file.pack();
    const rowErrors = waiting;
    waiting = [];
    const progress = { recordCount, failedCount, byteCount: file.byteCount(), estimatedTotal: null };
    const place = { fields: OUTCOME_COLUMNS, walkKey: null, position: null, inputPosition };
    return { ...progress, ...place, chunks, rowErrors, providerCalls, isProgress };
  }

  async function advance(inputPosition: InputPosition): Promise<void> {
    const next = await step(inputPosition);
    await fenced(store, (via) => store.checkpoint(via, job, next));
  }

  function settle(row: InputRow, outcome: Outcome): void {
    file.add(outcome);
    recordCount++;
    hasAdvanced = true;
    if (outcome.outcome === 'failed') failedCount++;
    if (outcome.outcome === 'failed' || outcome.doubtful) waiting = [...waiting, errorOf(row, outcome)];
  }

  try {
    let { doubtful, tries } = begun;
    for (;;) {
      const { begin, end, rows, fault } = await batches.next();
      if (rows.length === 0) {
        const last = await step({ ...begin, open: [], doubtful: [], tries: 0 });
        return { kind: 'done', last, ...(fault !== undefined && { fault }) };
      }
      const last = end.row;
      const stop = slice.stopEarly(hasAdvanced);
      const numbers = rows.map(({ number }) => number);
      if (stop !== undefined) {
        await advance({ ...begin, last, open: numbers, doubtful, tries });
        return { kind: 'later', ...stop };
      }
      tries++;
      // If it goes no further than this, any of them may have been sent.
      await advance({ ...begin, last, open: numbers, doubtful: numbers, tries });
      const before = new Set(doubtful);
      const written = await writeRows(rows.map((row) => ({ row, isDoubtful: before.has(row.number) })));
      if (signal.reason instanceof JobLost) throw signal.reason;
      const open = openRows(written);
      const isPoisoned = tries >= options.rowTries && open.length < last - begin.row;
      for (const [index, row] of rows.entries()) {
        const result = written[index];
        if (result?.kind === 'settled') settle(row, result.outcome);
        else if (isPoisoned && !signal.aborted) settle(row, failureOfOpen(job, row, result));
      }
      const [first] = open;
      if (first !== undefined && (!isPoisoned || signal.aborted)) {
        const sent = open.filter(({ index, mayBeWritten }) => mayBeWritten || before.has(numbers[index] ?? 0));
        const numberOf = ({ index }: OpenRow) => numbers[index] ?? 0;
        await advance({ ...begin, last, open: open.map(numberOf), doubtful: sent.map(numberOf), tries });
        throw first.error;
      }
      [doubtful, tries] = [[], 0];
      // All of the batch came to its end meanwhile.
      if (signal.aborted) {
        await advance({ ...end, open: [], doubtful, tries });
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

function failureOfOpen({ upload }: UploadJob, { number }: InputRow, result: WrittenRow | undefined): Outcome {
  const { error, mayBeWritten } = result?.kind === 'open' ? result : { error: undefined, mayBeWritten: true };
  return { row: number, ...failureOf(error), doubtful: mayBeWritten && !isRepeatable(upload) };
}

function errorOf({ startByte, endByte }: InputRow, { row, outcome, doubtful, code, message }: Outcome): RowError {
  return { rowNumber: row, outcome, isDoubtful: doubtful, code, message: message ?? '', startByte, endByte };
}

interface BatchesInput {
  readonly job: UploadJob;
  readonly begun: InputPosition;
  readonly signal: AbortSignal;
}

/** The rows of the file, batch by batch; the first one is what is left of the one that is under way. */
function createBatches(ports: UploadPorts, { job, begun, signal }: BatchesInput) {
  const { batchRows, batchBytes } = ports.options;
  const { byteCount, columns = [] } = job.upload;
  const bytes = bytesReader(ports, job, 'input')(begun.byte, byteCount);
  const rows = ROW_READERS[job.format](bytes, { ...begun, columns: columns.length }, signal);
  let place: Batch['begin'] = { byte: begun.byte, row: begun.row };
  let ahead: InputRow | undefined;
  let fault: JobFault | undefined;
  let rest = begun.last === undefined ? undefined : { last: begun.last, open: new Set(begun.open) };

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

  /** What is left of a batch has the bounds that it had. */
  async function takeRest(last: number): Promise<readonly InputRow[]> {
    const taken: InputRow[] = [];
    for (let row = await read(); row !== undefined; row = await read()) {
      taken.push(row);
      if (row.number === last) break;
    }
    return taken;
  }

  async function takeRows(): Promise<readonly InputRow[]> {
    const taken: InputRow[] = [];
    let size = 0;
    while (taken.length < batchRows) {
      const row = await read();
      if (row === undefined) break;
      size += row.endByte - row.startByte;
      if (taken.length > 0 && size > batchBytes) {
        ahead = row;
        break;
      }
      taken.push(row);
    }
    return taken;
  }

  async function next(): Promise<Batch> {
    const begin = place;
    const kept = rest;
    rest = undefined;
    const taken = kept === undefined ? await takeRows() : await takeRest(kept.last);
    const last = taken.at(-1);
    if (last !== undefined) place = { byte: last.endByte, row: last.number };
    const left = kept === undefined ? taken : taken.filter(({ number }) => kept.open.has(number));
    // All of it had come to its end.
    if (kept !== undefined && left.length === 0) return next();
    const behind = place.row + 1;
    return {
      begin,
      end: place,
      rows: left,
      ...(fault !== undefined && {
        fault: { ...fault, message: `Row ${behind} ${fault.message}: it and what comes behind it was not written.` },
      }),
    };
  }

  return { next, close: async () => void (await rows.return()) };
}
