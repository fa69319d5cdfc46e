import { noRoom } from '../connector/client/byte-budget.ts';
import { unusable } from '../connector/define.ts';
import type { NativeQuery, ObjectSpec } from '../connector/index.ts';
import { AppError, cutText, isAppError } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { PushedField, Row } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import { isMappedObject } from './mapped.ts';
import { readAs, waitForJobMs } from './native-job.ts';
import { type NativeStep, type Position, toListInput } from './page.ts';
import type { Query } from './query.ts';
import { sizeOf } from './record.ts';

/** One step of a walk. It may have no rows and only a next position. */
interface NativePart {
  readonly records: readonly Row[];
  readonly bytes: number;
  readonly next?: Position;
  readonly total?: number;
  /** Milliseconds to wait before the next step, because the provider's job is running. */
  readonly waitMs?: number;
  /** Whether the provider lost the job, with the rows that were not read yet. Then the walk begins again. */
  readonly isLost?: true;
}

/** The state of a walk, and what it needs. */
interface NativeWalk {
  readonly native: NativeQuery;
  readonly query: Query;
  readonly position: Position & { readonly native: NativeStep };
  /** The first position of a walk that reads the pages of the list. */
  readonly paged: Position;
}

/** Whether a job of the provider can find the rows of a query, and the reason if not. */
export type NativeFit =
  | { readonly native: NativeQuery; readonly reason?: never }
  | { readonly reason: string; readonly native?: never };

/**
 * Decides whether a job of the provider can find the rows of a query.
 * @returns undefined where the provider has no such jobs
 */
export function judgeNative(object: ObjectSpec, query: Query, limit: number | undefined): NativeFit | undefined {
  const native = object.bulk?.query;
  if (native === undefined) return undefined;
  const { plan, steps } = query;
  if (plan.holds === 'never') return { reason: 'no row can pass the filter' };
  if (plan.queries.length !== 1) return { reason: 'the filter needs several queries of the provider' };
  if (plan.orderBy.length > 0) return { reason: 'a job of the provider returns rows in no order' };
  if (limit !== undefined) return { reason: 'a job of the provider finds all rows, whatever the limit' };
  const unfit = unfitFields(native, object, steps.fields);
  if (unfit.length === 0) return { native };
  if (isMappedObject(object) && object.inForce.script !== undefined)
    return { reason: 'the script of the mapping may read fields that a job of the provider does not return' };
  return {
    reason: `a job of the provider does not return ${unfit.map(({ name }) => `'${name}'`).join(', ')}: request the fields without`,
  };
}

/** A mapped field lacks the values that its fields of the provider lack. */
function unfitFields(native: NativeQuery, object: ObjectSpec, fields: readonly PushedField[]): readonly PushedField[] {
  if (!isMappedObject(object)) return fields.filter((field) => isUnfit(native, field));
  const lacksSome = (some: readonly PushedField[]) =>
    object.vendorFieldsOf(some).some((field) => isUnfit(native, field));
  return lacksSome(fields) ? fields.filter((field) => lacksSome([field])) : [];
}

function isUnfit({ withoutTypes = [] }: NativeQuery, { nativeType }: PushedField): boolean {
  return nativeType !== undefined && withoutTypes.includes(nativeType);
}

/** Returns the first position of a walk that uses a job of the provider, if there are enough rows. */
export function nativeStart({ pageSize }: NativeQuery): Position {
  return { native: { looks: 0 }, skipRows: 0, skipMatches: 0, limit: pageSize };
}

/** Returns the input of the provider's job for a query. */
export function toNativeInput(query: Query, position: Position) {
  return { ...toListInput({ query, start: position }, {}), orderBy: [] };
}

/** Makes one step: it counts the rows and starts the job, requests the state of the job, or reads a page of its rows. */
export async function goOnNatively(call: InstanceCall, walk: NativeWalk): Promise<NativePart> {
  const { id, isDone } = walk.position.native;
  if (id === undefined) {
    const count = await countRows(call, walk);
    return count === undefined || count < walk.native.fromRows ? onPages(walk) : start(call, walk, count);
  }
  try {
    return isDone ? await readPage(call, walk, id) : await look(call, walk, id);
  } catch (error) {
    if (isAppError(error, 'NOT_FOUND')) return { ...NOTHING, next: walk.position, isLost: true };
    throw error;
  }
}

const NOTHING = { records: [], bytes: 0 } as const;

function onPages({ paged }: NativeWalk): NativePart {
  return { ...NOTHING, next: paged };
}

/** Returns undefined where the provider cannot count the rows, so that pages are read. */
async function countRows(call: InstanceCall, { native, query, position }: NativeWalk): Promise<number | undefined> {
  try {
    return await call.execute(native.count, toNativeInput(query, position));
  } catch (error) {
    if (isAppError(error, 'PROVIDER_REJECTED', 'PROVIDER_TIMEOUT', 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Starts the job. If the provider rejects it for this object or account, the walk reads pages. */
async function start(call: InstanceCall, walk: NativeWalk, total: number): Promise<NativePart> {
  const { native, query, position } = walk;
  try {
    const id = await call.execute(native.start, toNativeInput(query, position));
    return { ...wait(walk, { id, looks: 0 }), ...(query.plan.residual === undefined && { total }) };
  } catch (error) {
    if (isAppError(error, 'PROVIDER_REJECTED', 'NOT_FOUND')) return onPages(walk);
    throw error;
  }
}

function wait({ position }: NativeWalk, native: NativeStep): NativePart {
  return { ...NOTHING, next: { ...position, native }, waitMs: waitForJobMs(native.looks) };
}

async function look(call: InstanceCall, walk: NativeWalk, id: string): Promise<NativePart> {
  const { native, position } = walk;
  const { looks } = position.native;
  const found = await call.execute(native.look, { id });
  if (found.kind === 'done') return { ...NOTHING, next: { ...position, native: { id, looks, isDone: true } } };
  if (found.kind !== 'failed') return wait(walk, { id, looks: looks + 1 });
  const { name } = call.instance.connector;
  const what = `The job ${cutText(id)} of ${name} did not find the rows: it is ${cutText(found.state)}.`;
  throw new AppError('PROVIDER_REJECTED', what, {
    providerMessage: found.message === undefined ? undefined : cutText(found.message),
  });
}

async function readPage(call: InstanceCall, walk: NativeWalk, id: string): Promise<NativePart> {
  const { native, query, position } = walk;
  const { cursor, limit } = position;
  const page = await call.execute(native.read, { id, cursor, limit, fields: query.steps.fields });
  const pacer = createPacer(call.signal);
  if (page.next !== undefined && page.next === cursor) throw unusable(CIRCLE);
  const rows = page.records[Symbol.iterator]();
  const [passes] = query.steps.tests;
  const records: Row[] = [];
  let { skipMatches } = position;
  let bytes = 0;
  let counted = 0;
  for (let row = readAs(call, () => rows.next()); !row.done; row = readAs(call, () => rows.next())) {
    if (pacer.isDue()) await pacer.pause();
    call.assertMembers(row.value);
    const record = query.steps.map(row.value);
    if (passes?.(record) === false || skipMatches-- > 0) continue;
    records.push(query.steps.project(record));
    bytes += sizeOf(records.at(-1));
    if (bytes - counted < COUNTED_BYTES) continue;
    if (!call.take(bytes - counted)) throw noRoom();
    counted = bytes;
  }
  call.keep(bytes);
  if (page.next === undefined) return { records, bytes };
  return { records, bytes, next: { ...position, cursor: page.next, skipMatches: 0 } };
}

/** The memory of records is counted for the account as they are made, in steps of this size. */
const COUNTED_BYTES = 1024 * 1024;

const CIRCLE = 'The provider returned the current page as the next one, so the rows would never end.';
