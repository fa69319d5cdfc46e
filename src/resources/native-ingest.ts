import {
  type IngestAction,
  json,
  type NativeIngest,
  type ObjectSpec,
  type ProviderRequest,
} from '../connector/index.ts';
import { type AppError, isAppError } from '../errors.ts';
import { ExactNumber } from '../numbers/exact-json.ts';
import { readDecimal } from '../numbers/number-value.ts';
import { createPacer } from '../pace.ts';
import { type FieldSpec, pushedField, type Row, reader } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import { csvRows } from './csv-rows.ts';
import { type JobLook, jobIdIn, lookAtJob, passOver, readAs } from './native-job.ts';
import { writeRecord } from './record.ts';

/** A row as a job of the provider takes it: its cells by native names. What is absent is left as it is. */
export type IngestCells = ReadonlyMap<string, string>;

/** What is to be written by jobs of the provider. */
export interface IngestPlan {
  readonly ingest: NativeIngest;
  readonly action: IngestAction;
  /** The native field by which records are found; absent where they are created. */
  readonly key?: string;
  /** By what the record of a row is found; undefined where there is nothing. */
  readonly keyOf: (values: Row) => string | undefined;
  /** @returns undefined for a row that a job cannot write, or not as a call of its own would */
  readonly toCells: (values: Row) => IngestCells | undefined;
}

/** @returns undefined where the provider has no jobs for it */
export function planIngest(object: ObjectSpec, action: IngestAction, identifier: string): IngestPlan | undefined {
  const ingest = object.bulk?.ingest;
  const keys = ingest?.actions[action];
  if (ingest === undefined || keys === undefined) return undefined;
  if (action === 'create') {
    const toCells = (values: Row) => cellsOf(withoutNulls(values), { object, ingest, writes: ['create'] });
    return { ingest, action, keyOf: () => undefined, toCells };
  }
  const spec = Object.hasOwn(object.fields, identifier) ? object.fields[identifier] : undefined;
  const key = spec === undefined ? undefined : pushedField(identifier, spec).native;
  if (key === undefined || !keys.includes(key)) return undefined;
  const read = reader(identifier);
  const keyOf = (values: Row) => String(read(values) ?? '') || undefined;
  const isById = identifier === (object.idField ?? 'id');
  const writes = action === 'upsert' ? (['create', 'update'] as const) : (['update'] as const);

  return {
    ingest,
    action,
    key,
    keyOf,
    toCells: (values) => {
      const found = keyOf(values);
      // Without one the row is at fault, or is to be created, which a call of its own tells.
      if (found === undefined || isWord(ingest, found)) return undefined;
      const others = Object.fromEntries(Object.entries(values).filter(([name]) => name !== identifier));
      if (action === 'delete') return new Map([[key, found]]);
      const cells = cellsOf(isById ? others : values, { object, ingest, writes });
      return cells && new Map([[key, found], ...cells]);
    },
  };
}

interface CellsInput {
  readonly object: ObjectSpec;
  readonly ingest: NativeIngest;
  /** Which calls would take the values. */
  readonly writes: readonly ('create' | 'update')[];
}

/** @returns undefined for values that a single call would refuse, and those that cannot stand in a cell */
function cellsOf(values: Row, { object, ingest, writes }: CellsInput): Map<string, string> | undefined {
  const cells = new Map<string, string>();
  try {
    for (const action of writes) writeRecord(action === 'create' ? withoutNulls(values) : values, object, action);
  } catch (error) {
    if (isAppError(error, 'REQUEST_INVALID')) return undefined;
    throw error;
  }
  for (const [name, value] of Object.entries(values)) {
    const spec = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined;
    const cell = spec && cellOf(name, { spec, value, ingest });
    if (cell === undefined) return undefined;
    cells.set(pushedField(name, spec ?? { type: 'string' }).native, cell);
  }
  return cells.size === 0 ? undefined : cells;
}

interface CellInput {
  readonly spec: FieldSpec;
  readonly value: unknown;
  readonly ingest: NativeIngest;
}

/** The text that means what the value means where it is sent by itself. */
function cellOf(name: string, { spec, value, ingest }: CellInput): string | undefined {
  const { nullCell, emptyCell, withoutTypes = [] } = ingest;
  if (spec.nativeType !== undefined && withoutTypes.includes(spec.nativeType)) return undefined;
  if (value === null) return nullCell;
  const { write } = pushedField(name, spec);
  if (!isOfType(spec, value)) return undefined;
  const written = write === undefined ? value : write(value);
  if (written === '') return emptyCell;
  if (written === null) return nullCell;
  if (typeof written === 'object' && !(written instanceof ExactNumber)) return undefined;
  const text = String(written);
  return isWord(ingest, text) ? undefined : text;
}

/** What is of another type the provider may read in a cell, and not in JSON. */
function isOfType({ type }: FieldSpec, value: unknown): boolean {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return readDecimal(value) !== undefined;
    case 'array':
      return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
    case 'object':
      return false;
    default:
      return typeof value === 'string';
  }
}

/** A text that means something else in a cell. */
function isWord({ nullCell, emptyCell }: NativeIngest, text: string): boolean {
  return text === nullCell || text === emptyCell;
}

function withoutNulls(values: Row): Row {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** What a job made of a row; `cells` has columns of the provider's beside those that were sent. */
export type IngestedRow = { readonly cells: IngestCells } & (
  | { readonly kind: 'written'; readonly id: string; readonly isNew: boolean }
  | { readonly kind: 'failed'; readonly error: AppError }
  | { readonly kind: 'unprocessed' }
);

/** @returns the id of the job. @throws AppError as calls do */
export async function startIngest(call: InstanceCall, { ingest, action, key }: IngestPlan): Promise<string> {
  const request = ingest.start({ action, ...(key !== undefined && { key }) }, call.instance.config);
  const { body } = await call.send(request);
  return jobIdIn(call, ingest, body);
}

/** Gives a job all its rows, once, and has it begin. @throws AppError as calls do */
export async function sendIngest(call: InstanceCall, { ingest }: IngestPlan, { id, csv }: IngestFile): Promise<void> {
  const { config } = call.instance;
  await call.send({ ...ingest.send(id, csv, config), idempotent: false });
  await call.send({ ...ingest.close(id, config), idempotent: false });
}

export interface IngestFile {
  readonly id: string;
  readonly csv: string;
}

/** A job that is open though nobody will close it any more is broken off: what its rows were is told by its results. @throws AppError as calls do */
export async function lookAtIngest(
  call: InstanceCall,
  { ingest }: IngestPlan,
  { id, isClosed }: IngestSeen,
): Promise<JobLook> {
  const look = await lookAtJob(call, ingest, id);
  if (look.meaning === 'open' && !isClosed) await passOver(call.send(ingest.abort(id, call.instance.config)));
  return look;
}

export interface IngestSeen {
  readonly id: string;
  /** It was told that it has all its rows. */
  readonly isClosed: boolean;
}

/** What came of the rows of a job that has ended. @throws AppError as calls do */
export async function readIngest(
  call: InstanceCall,
  { ingest: { results } }: IngestPlan,
  id: string,
): Promise<readonly IngestedRow[]> {
  const { succeeded, failed, unprocessed } = results;
  const { answer = rejection } = failed;
  const { config } = call.instance;
  const pacer = createPacer(call.signal);

  async function read(request: ProviderRequest): Promise<readonly ResultRow[]> {
    const { body } = await call.send(request);
    const rows = resultRows(body);
    const all: ResultRow[] = [];
    for (let row = readAs(call, () => rows.next()); !row.done; row = readAs(call, () => rows.next())) {
      if (pacer.isDue()) await pacer.pause();
      all.push(row.value);
    }
    return all;
  }

  const written = await read(succeeded.request(id, config));
  const refused = await read(failed.request(id, config));
  const left = await read(unprocessed.request(id, config));
  return readAs(call, () => [
    ...written.map((row) => ({
      kind: 'written' as const,
      cells: row,
      id: json.key(row.get(succeeded.id), 'the id of a record'),
      isNew: row.get(succeeded.created) === 'true',
    })),
    ...refused.map((row) => {
      const text = json.text(row.get(failed.error), 'the error of a row');
      return { kind: 'failed' as const, cells: row, error: call.judge(answer(text)) };
    }),
    ...left.map((row) => ({ kind: 'unprocessed' as const, cells: row })),
  ]);
}

type ResultRow = ReadonlyMap<string, string>;

function rejection(error: string) {
  return { status: 400, body: error };
}

/** Under their header. @throws Error where the answer is no CSV */
function* resultRows(body: unknown): Generator<ResultRow, void> {
  if (body === undefined) return;
  if (typeof body !== 'string') throw new Error('The results of the job are not CSV.');
  let names: readonly string[] | undefined;
  for (const cells of csvRows(body)) {
    if (names === undefined) names = cells;
    else if (cells.length === names.length) yield new Map(names.map((name, at) => [name, cells[at] ?? '']));
    else throw new Error(`A row of the results has ${cells.length} values in ${names.length} columns.`);
  }
}
