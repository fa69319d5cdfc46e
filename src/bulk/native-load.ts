import { createHash } from 'node:crypto';
import type { ObjectSpec } from '../connector/index.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { CallReport } from '../resources/call.ts';
import type { ObjectTarget, Resources } from '../resources/index.ts';
import { type IngestCells, type IngestedRow, type IngestPlan, planIngest } from '../resources/native-ingest.ts';
import { waitForJobMs } from '../resources/native-job.ts';
import { printCell } from './csv-cells.ts';
import { bytesReader, type FilePorts } from './file.ts';
import type { CallCount } from './file-writer.ts';
import type { NativeEndHow, NativeOwner } from './forget-native.ts';
import { BrokenFile, type InputRow, ROW_READERS } from './input-file.ts';
import type { BulkUpload, ClaimedJob, InputPosition, NativeLoad, RowOutcome } from './job.ts';
import type { Outcome } from './outcomes.ts';
import type { TurnEnd } from './slice.ts';
import type { RowPlace, UploadProgress } from './upload-progress.ts';
import { failureOf, isOwnFault, valuesMaker } from './write-rows.ts';

export interface LoadPorts extends FilePorts {
  readonly resources: Pick<Resources, 'startIngest' | 'sendIngest' | 'lookAtIngest' | 'readIngest' | 'endNative'>;
  /** Lets the provider forget its job, which may be at work. Does not reject. */
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

/** One step with the rows from a place on: where the upload is after it, or that it is to come again later. */
export type LoadStep = (
  position: InputPosition,
) => Promise<InputPosition | Extract<TurnEnd, { readonly kind: 'later' }>>;

/** Of an upload: the batch that is next begins here. */
export function batchAt({ byte, row }: Pick<InputPosition, 'byte' | 'row'>): InputPosition {
  return { byte, row, open: [], doubtful: [], tries: 0 };
}

/**
 * Leaves rows to jobs of the provider, part by part of the file. The id of a job is stored, with the rows that it is for, before any is sent:
 * a job that is open when it is asked for was given none, or not for certain all, and is broken off. What a job did not process is written by single calls, and so
 * are rows that it does not take, behind the others of their part.
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

  /** What the answers take in memory is counted until the step ends. */
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
    const id = await start();
    if (id === undefined) return single;
    const load = { id, last: row, endByte: byte, digest: digestOf(part), isClosed: false, looks: 0 };
    await know(position, load);
    if (await send(id, part)) return wait(position, { ...load, isClosed: true });
    await forget({ ...job, nativeJob: id });
    return single;
  }

  /** @returns undefined where the provider does not do it for this object or this account */
  async function start(): Promise<string | undefined> {
    try {
      return (await counted((target) => resources.startIngest(target, plan))).id;
    } catch (error) {
      if (isAppError(error, ...REFUSALS)) return undefined;
      throw error;
    }
  }

  /** A job that was begun and nobody may know of is not left open. Where it was stored all the same, it is asked what it did: nothing. */
  async function know(position: InputPosition, load: NativeLoad): Promise<void> {
    try {
      await progress.advance({ ...batchAt(position), load }, load.id);
    } catch (error) {
      await forget({ ...job, nativeJob: load.id }, { isDone: false, isKept: true });
      throw error;
    }
  }

  /** @returns false where the provider does not take what it was to have */
  async function send(id: string, part: Part): Promise<boolean> {
    try {
      await counted((target) => resources.sendIngest(target, plan, { id, csv: part.csv() }));
      return true;
    } catch (error) {
      if (isAppError(error, ...REFUSALS)) return false;
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
      const { meaning } = await counted((target) => resources.lookAtIngest(target, plan, load));
      if (meaning === 'running' || meaning === 'open') return await wait(position, { ...load, looks: load.looks + 1 });
      return await finish(position, load, meaning);
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return lost(position, load);
      throw error;
    }
  }

  /** Nobody knows what became of its rows. */
  function lost(position: InputPosition, { last }: NativeLoad): InputPosition {
    return { ...batchAt(position), single: { last, isDoubtful: true } };
  }

  async function finish(position: InputPosition, load: NativeLoad, meaning: 'done' | 'failed'): ReturnType<LoadStep> {
    const part = await readPart(ports, input, { plan, from: position, until: load.last });
    const results = await readResults(load, meaning);
    const after = next(position, load, { part, meaning, results });
    await progress.advance(after);
    await forget({ ...job, nativeJob: load.id }, { isDone: true });
    return after;
  }

  /** Of a job that never got its rows a provider may have no results. */
  async function readResults({ id, isClosed }: NativeLoad, meaning: 'done' | 'failed') {
    try {
      return (await counted((target) => resources.readIngest(target, plan, id))).rows;
    } catch (error) {
      if (meaning === 'failed' && !isClosed && isAppError(error, 'PROVIDER_REJECTED')) return [];
      throw error;
    }
  }

  function next(position: InputPosition, load: NativeLoad, { part, meaning, results }: Ended): InputPosition {
    // It never had its rows, or not for certain all: it is begun anew.
    const isUntouched = results.every(({ kind }) => kind === 'unprocessed');
    if (meaning === 'failed' && !load.isClosed && isUntouched) return batchAt(position);
    // It did not even tell them apart.
    if (meaning === 'failed' && results.length === 0) return lost(position, load);
    // The object is not what it was: what was sent cannot be told any more.
    if (digestOf(part) !== load.digest) return lost(position, load);
    const matched = matchRows(part, results);
    if (matched === undefined) throw strangeResults(instance);
    const left = [...part.single];
    for (const { place, result } of matched) {
      const outcome = outcomeOf(plan, place, result);
      if (outcome === undefined) left.push(place.number);
      else progress.settle(place, outcome);
    }
    if (left.length === 0) return batchAt({ byte: load.endByte, row: load.last });
    const rows = left.toSorted((a, b) => a - b);
    return { ...batchAt(position), single: { last: load.last, rows, isDoubtful: false } };
  }

  return (position) => (position.load === undefined ? begin(position) : goOn(position, position.load));
}

/** Of one provider for good, so that another try is no use. */
const REFUSALS = ['PROVIDER_REJECTED', 'NOT_FOUND', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'OPERATION_UNSUPPORTED'] as const;

interface Ended {
  readonly part: Part;
  readonly meaning: 'done' | 'failed';
  readonly results: readonly IngestedRow[];
}

/** Rows of a file that one job takes. */
interface Part {
  readonly rows: readonly PartRow[];
  /** Numbers of those among them that it does not take. */
  readonly single: readonly number[];
  /** Behind the last of both. */
  readonly end: Pick<InputPosition, 'byte' | 'row'>;
  readonly columns: readonly string[];
  readonly csv: () => string;
}

interface PartRow {
  readonly place: RowPlace;
  readonly cells: IngestCells;
}

interface PartInput {
  readonly plan: IngestPlan;
  readonly from: Pick<InputPosition, 'byte' | 'row'>;
  /** The number of its last row, where that is known. */
  readonly until?: number;
}

/** What cannot be read ends it: that is told when it is read the next time. */
async function readPart(ports: FilePorts, input: LoadInput, { plan, from, until }: PartInput): Promise<Part> {
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

/** Bytes of a separator, or of an end of row. */
const SEPARATOR_BYTES = 1;

function openPart(plan: IngestPlan, toValues: ReturnType<typeof valuesMaker>, from: PartInput['from']) {
  const { ingest, keyOf, toCells } = plan;
  const rows: PartRow[] = [];
  const single: number[] = [];
  const columns = new Set<string>();
  const keys = new Set<string>();
  let end = from;
  let cellBytes = 0;

  /** @returns undefined for a row that cannot be read, which is told when it is written by itself */
  function read(row: InputRow): ReturnType<typeof toValues> | undefined {
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
      const cells = values && toCells(values);
      const bytes = cells === undefined ? 0 : [...cells.values()].reduce((sum, cell) => sum + bytesOf(cell), 0);
      const fits = cells !== undefined && fileBytes(cells.keys(), { bytes, rows: 1 }) <= ingest.mostBytes;
      const all = { bytes: cellBytes + bytes, rows: rows.length + 1 };
      if (fits && fileBytes([...columns, ...cells.keys()], all) > ingest.mostBytes) return false;
      if (fits) {
        const { number, startByte, endByte } = row;
        rows.push({ place: { number, startByte, endByte }, cells });
        cellBytes += bytes;
        for (const name of cells.keys()) columns.add(name);
      } else single.push(row.number);
      if (key !== undefined) keys.add(key);
      end = { byte: row.endByte, row: row.number };
      return true;
    },
    close: (): Part => {
      const names = [...columns];
      const csv = () => [names, ...rows.map(({ cells }) => contentOf(names, cells))].map(printLine).join('');
      return { rows, single, end, columns: names, csv };
    },
  };
}

/** Of a file with these columns. */
function fileBytes(
  columns: Iterable<string>,
  { bytes, rows }: { readonly bytes: number; readonly rows: number },
): number {
  const names = [...new Set(columns)];
  return names.reduce((sum, name) => sum + bytesOf(name), bytes) + (rows + 1) * names.length * SEPARATOR_BYTES;
}

function bytesOf(cell: string): number {
  return Buffer.byteLength(printCell(cell));
}

/** What it leaves as it is is empty. */
function contentOf(columns: readonly string[], cells: ReadonlyMap<string, string>): readonly string[] {
  return columns.map((name) => cells.get(name) ?? '');
}

function printLine(cells: readonly string[]): string {
  return `${cells.map((cell) => printCell(cell === '' ? null : cell)).join(',')}\n`;
}

function digestOf({ csv }: Part): string {
  return createHash('sha256').update(csv()).digest('base64');
}

interface MatchedRow {
  readonly place: RowPlace;
  readonly result: IngestedRow;
}

/**
 * Results come in any order, and say of a row its content only. Which of rows with the same content has which of their results nobody knows, and
 * any assignment is as true as another. In the order of the rows.
 * @returns undefined unless there is one result for each row
 */
function matchRows({ rows, columns }: Part, results: readonly IngestedRow[]): readonly MatchedRow[] | undefined {
  if (results.length !== rows.length) return undefined;
  const keyOf = (cells: ReadonlyMap<string, string>) => JSON.stringify(contentOf(columns, cells));
  const found = Map.groupBy(results, ({ cells }) => keyOf(cells));
  // The first come first.
  for (const same of found.values()) same.reverse();
  const matched = rows.flatMap(({ place, cells }) => {
    const result = found.get(keyOf(cells))?.pop();
    return result === undefined ? [] : [{ place, result }];
  });
  return matched.length === rows.length ? matched : undefined;
}

const DONE: Readonly<Record<IngestPlan['action'], (isNew: boolean) => Exclude<RowOutcome, 'failed'>>> = {
  create: () => 'created',
  update: () => 'updated',
  upsert: (isNew) => (isNew ? 'created' : 'updated'),
  delete: () => 'deleted',
};

/** @returns undefined for a row that was not written, and may be, by another try */
function outcomeOf({ action }: IngestPlan, { number: row }: RowPlace, result: IngestedRow): Outcome | undefined {
  if (result.kind === 'unprocessed') return undefined;
  if (result.kind === 'written') {
    return { row, id: result.id, outcome: DONE[action](result.isNew), doubtful: false, code: null, message: null };
  }
  return isOwnFault(result.error) ? { row, ...failureOf(result.error), doubtful: false } : undefined;
}

function strangeResults({ connector }: Instance): AppError {
  return new AppError('PROVIDER_PROTOCOL', `${connector.name} tells of other rows of its job than it was sent.`);
}
