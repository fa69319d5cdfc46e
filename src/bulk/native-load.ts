import { createHash } from 'node:crypto';
import type { ObjectSpec } from '../connector/index.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { CallReport } from '../resources/call.ts';
import type { Resources } from '../resources/index.ts';
import { type IngestedRow, waitForJobMs } from '../resources/native-job.ts';
import type { ObjectTarget } from '../resources/opened.ts';
import type { Row } from '../where/index.ts';
import { bytesReader, type FilePorts } from './file.ts';
import type { CallCount } from './file-writer.ts';
import type { NativeEndHow, NativeOwner } from './forget-native.ts';
import { type IngestPlan, planIngest } from './ingest-plan.ts';
import { BrokenFile, type InputRow, ROW_READERS } from './input-file.ts';
import type { BulkUpload, ClaimedJob, InputPosition, NativeLoad, RowOutcome } from './job.ts';
import type { StoredOutcome } from './outcomes.ts';
import type { SliceEnd } from './slice.ts';
import type { RowPosition, UploadProgress } from './upload-progress.ts';
import { failureOf, isOwnFault, valuesMaker } from './write-rows.ts';

export interface LoadPorts extends FilePorts {
  readonly resources: Pick<Resources, 'startIngest' | 'lookAtIngest' | 'readIngest'>;
  /** Removes the provider's job, which may still be running. Never rejects. */
  readonly forget: (job: NativeOwner, how?: NativeEndHow) => Promise<void>;
}

export interface LoadInput {
  readonly job: ClaimedJob & { readonly upload: BulkUpload };
  readonly instance: Instance;
  readonly object: ObjectSpec;
  readonly calls: CallCount;
  readonly signal: AbortSignal;
  readonly progress: UploadProgress;
}

/** Does one step with the rows from a position on. Returns the next position, or that the job must be resumed later. */
type LoadStep = (position: InputPosition) => Promise<InputPosition | Extract<SliceEnd, { readonly kind: 'later' }>>;

/** Returns the position of an upload whose rows a job of the provider may have written or not. */
export function doubtfulAt(position: Pick<InputPosition, 'byte' | 'row'>, { last }: NativeLoad): InputPosition {
  return { ...batchAt(position), single: { last, isDoubtful: true } };
}

/** Returns the position of an upload whose next batch begins here. */
export function batchAt({ byte, row }: Pick<InputPosition, 'byte' | 'row'>): InputPosition {
  return { byte, row, open: [], doubtful: [], tries: 0 };
}

/**
 * Writes rows by jobs of the provider, part by part of the file. The id of a job is stored with its rows before any row is sent. If a job
 * is open when its state is requested, it received no rows, or perhaps not all, so it is stopped. Rows that a job did not process, or does
 * not accept, are written by single calls behind the others of their part.
 * @returns undefined where the provider has no jobs for the upload
 */
export function createLoad(ports: LoadPorts, input: LoadInput): LoadStep | undefined {
  const { action, identifier } = input.job.upload;
  const plan = planIngest(input.object, action, identifier);
  return plan && createPlannedLoad(ports, input, plan);
}

function createPlannedLoad(ports: LoadPorts, input: LoadInput, plan: IngestPlan): LoadStep {
  const { resources, forget } = ports;
  const { job, instance, calls, signal, progress } = input;

  /** Counts the memory of responses until the step ends. */
  async function counted<Report extends CallReport>(work: (target: ObjectTarget) => Promise<Report>): Promise<Report> {
    const end = new AbortController();
    try {
      const target = { instance, objectName: job.objectName, signal: AbortSignal.any([signal, end.signal]) };
      const report = await work(target);
      calls.providerCalls += report.providerCalls;
      return report;
    } finally {
      end.abort();
    }
  }

  async function begin(position: InputPosition): ReturnType<LoadStep> {
    const part = await readPart(ports, input, { plan, from: position });
    const { byte, row } = part.end;
    // Where parts are short, as the same record comes again and again, a stretch of them is written so.
    const last = Math.max(row, position.row + plan.ingest.fromRows);
    const single = { ...batchAt(position), single: { last, isDoubtful: false } };
    if (part.rows.length < plan.ingest.fromRows) return single;
    const begun = { last: row, endByte: byte, digest: digestOf(part), isClosed: false, looks: 0 };
    const kept: { readonly load: NativeLoad; readonly known: Promise<void> }[] = [];
    const keep = (id: string) => {
      const load = { ...begun, id };
      const known = know(position, load);
      kept.push({ load, known });
      return known;
    };
    try {
      await counted((target) => resources.startIngest(target, plan, { rows: nativeRows(part), keep }));
    } catch (error) {
      const [one] = kept;
      // An error of storing the id does not come from the connector.
      await one?.known;
      // The provider does not support the job for this object or account, or rejects its rows.
      if (!isAppError(error, ...REFUSALS)) throw error;
      if (one !== undefined) await forget({ ...job, nativeJob: one.load.id });
      return single;
    }
    const [one] = kept;
    if (one === undefined) throw new Error(`The connector ${instance.connector.key} keeps no id of its job`);
    return wait(position, { ...one.load, isClosed: true });
  }

  /**
   * Stops a job that was started without certainty that its id is stored. If it is stored, its results are requested, and there are none.
   */
  async function know(position: InputPosition, load: NativeLoad): Promise<void> {
    try {
      await progress.advance({ ...batchAt(position), load }, load.id);
    } catch (error) {
      await forget({ ...job, nativeJob: load.id }, { isDone: false, isKept: true });
      throw error;
    }
  }

  async function wait(position: InputPosition, load: NativeLoad): ReturnType<LoadStep> {
    if (load.looks === 0) progress.move();
    await progress.advance({ ...batchAt(position), load });
    return { kind: 'later', afterMs: waitForJobMs(load.looks), isWait: false };
  }

  async function goOn(position: InputPosition, load: NativeLoad): ReturnType<LoadStep> {
    try {
      const { look } = await counted((target) => resources.lookAtIngest(target, plan, load.id));
      if (look.kind === 'done' || look.kind === 'failed') return await finish(position, load, look.kind);
      // It will never be closed now. Its results report the outcomes of its rows.
      if (look.kind === 'open' && !load.isClosed)
        await forget({ ...job, nativeJob: load.id }, { isDone: false, isKept: true });
      return await wait(position, { ...load, looks: load.looks + 1 });
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return doubtfulAt(position, load);
      throw error;
    }
  }

  async function finish(position: InputPosition, load: NativeLoad, meaning: 'done' | 'failed'): ReturnType<LoadStep> {
    const part = await readPart(ports, input, { plan, from: position, until: load.last });
    const results = await readResults(load, meaning, part);
    const after = next(position, load, { part, meaning, results });
    await progress.advance(after);
    await forget({ ...job, nativeJob: load.id }, { isDone: true });
    return after;
  }

  /** A provider may have no results of a job that never received its rows. */
  async function readResults({ id, isClosed }: NativeLoad, meaning: 'done' | 'failed', part: LoadPart) {
    try {
      return (await counted((target) => resources.readIngest(target, plan, { id, rows: nativeRows(part) }))).rows;
    } catch (error) {
      if (meaning === 'failed' && !isClosed && isAppError(error, 'PROVIDER_REJECTED')) return [];
      throw error;
    }
  }

  function next(position: InputPosition, load: NativeLoad, { part, meaning, results }: Ended): InputPosition {
    // It never had its rows, or not for certain all: it is begun anew.
    const isUntouched = results.every(({ kind }) => kind === 'unprocessed');
    if (meaning === 'failed' && !load.isClosed && isUntouched) return batchAt(position);
    // It did not even distinguish them.
    if (meaning === 'failed' && results.length === 0) return doubtfulAt(position, load);
    // The object was changed, so the rows that were sent cannot be determined any more.
    if (digestOf(part) !== load.digest) return doubtfulAt(position, load);
    // There is one result for each row.
    const byRow = new Map(results.map((result) => [result.row, result]));
    if (byRow.size !== results.length || results.length !== part.rows.length || byRow.has(undefined))
      throw strangeResults(instance);
    const left = [...part.single];
    for (const [index, { position }] of part.rows.entries()) {
      const outcome = outcomeOf(plan, position, byRow.get(index));
      if (outcome === undefined) left.push(position.number);
      else progress.settle(position, outcome);
    }
    if (left.length === 0) return batchAt({ byte: load.endByte, row: load.last });
    const rows = left.toSorted((a, b) => a - b);
    return { ...batchAt(position), single: { last: load.last, rows, isDoubtful: false } };
  }

  return (position) => (position.load === undefined ? begin(position) : goOn(position, position.load));
}

/** Rejections that stay, so that another attempt is useless. */
const REFUSALS = ['PROVIDER_REJECTED', 'NOT_FOUND', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'OPERATION_UNSUPPORTED'] as const;

interface Ended {
  readonly part: LoadPart;
  readonly meaning: 'done' | 'failed';
  readonly results: readonly IngestedRow[];
}

/** Rows of a file for one job. */
interface LoadPart {
  readonly rows: readonly PartRow[];
  /** Numbers of the rows that the job does not accept. */
  readonly single: readonly number[];
  /** Position after the last of these rows. */
  readonly end: Pick<InputPosition, 'byte' | 'row'>;
}

interface PartRow {
  readonly position: RowPosition;
  readonly native: Row;
}

interface PartInput {
  readonly plan: IngestPlan;
  readonly from: Pick<InputPosition, 'byte' | 'row'>;
  /** The number of its last row, where that is known. */
  readonly until?: number;
}

/** A row that cannot be read ends the part. The next read reports it. */
async function readPart(ports: FilePorts, input: LoadInput, { plan, from, until }: PartInput): Promise<LoadPart> {
  const { job, object, signal } = input;
  const { byteCount, columns = [] } = job.upload;
  const bytes = bytesReader(ports, job, 'input')(from.byte, byteCount);
  const part = openPart(plan, valuesMaker(job, object), from);
  try {
    for await (const row of ROW_READERS[job.format](bytes, { ...from, columns: columns.length }, signal)) {
      if (!part.add(row) || row.number === until) break;
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
  }
  return part.close();
}

function openPart(plan: IngestPlan, toValues: ReturnType<typeof valuesMaker>, from: PartInput['from']) {
  const { ingest, keyOf, toNative } = plan;
  const rows: PartRow[] = [];
  const single: number[] = [];
  const keys = new Set<string>();
  let end = from;
  let bytes = 0;

  /** @returns undefined for a row that cannot be read; writing it alone reports the fault */
  function read(row: InputRow): Row | undefined {
    try {
      return toValues(row);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      return undefined;
    }
  }

  return {
    /** @returns false for a row that does not fit into the part */
    add: (row: InputRow): boolean => {
      if (rows.length + single.length >= ingest.mostRows) return false;
      const values = read(row);
      const key = values && keyOf(values);
      // Rows about one record are written one after the other, and a job does not say in which order it works.
      if (key !== undefined && keys.has(key)) return false;
      const { number, startByte, endByte } = row;
      const size = endByte - startByte;
      const native = size > ingest.mostBytes ? undefined : values && toNative(values);
      if (native !== undefined && bytes + size > ingest.mostBytes) return false;
      if (native === undefined) single.push(number);
      else {
        rows.push({ position: { number, startByte, endByte }, native });
        bytes += size;
      }
      if (key !== undefined) keys.add(key);
      end = { byte: endByte, row: number };
      return true;
    },
    close: (): LoadPart => ({ rows, single, end }),
  };
}

function nativeRows({ rows }: LoadPart): readonly Row[] {
  return rows.map(({ native }) => native);
}

function digestOf(part: LoadPart): string {
  return createHash('sha256')
    .update(JSON.stringify(nativeRows(part)))
    .digest('base64');
}

const DONE: Readonly<Record<IngestPlan['action'], (isNew: boolean) => Exclude<RowOutcome, 'failed'>>> = {
  create: () => 'created',
  update: () => 'updated',
  upsert: (isNew) => (isNew ? 'created' : 'updated'),
  delete: () => 'deleted',
};

/** @returns undefined for a row that was not written, and may be, by another try */
function outcomeOf(
  { action }: IngestPlan,
  { number: row }: RowPosition,
  result: IngestedRow | undefined,
): StoredOutcome | undefined {
  if (result === undefined || result.kind === 'unprocessed') return undefined;
  if (result.kind === 'written') {
    return { row, id: result.id, outcome: DONE[action](result.isNew), doubtful: false, code: null, message: null };
  }
  return isOwnFault(result.error) ? { row, ...failureOf(result.error), doubtful: false } : undefined;
}

function strangeResults({ connector }: Instance): AppError {
  return new AppError('PROVIDER_PROTOCOL', `${connector.name} returned outcomes for other rows than Causeway sent.`);
}
