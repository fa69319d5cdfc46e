import { noRoom } from '../connector/client/byte-budget.ts';
import type { NativeQuery, ObjectSpec } from '../connector/index.ts';
import { AppError, cutText, isAppError } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { PushedField, Row } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import { jobIdIn, lookAtJob, readAs, unreadable, waitForJobMs } from './native-job.ts';
import { readNativeAnswer } from './native-rows.ts';
import { type NativeStep, type Position, toListInput } from './page.ts';
import type { Query } from './query.ts';
import { sizeOf } from './record.ts';

/** A part of a walk. It may have no rows, and lead on. */
export interface NativePart {
  readonly records: readonly Row[];
  readonly bytes: number;
  readonly next?: Position;
  readonly total?: number;
  /** Nothing is to be had before: the provider's job is at work. */
  readonly waitMs?: number;
  /** The provider has the job no more, nor what was not read yet: the walk begins anew. */
  readonly isLost?: true;
}

export interface NativeWalk {
  readonly native: NativeQuery;
  readonly query: Query;
  readonly position: Position & { readonly native: NativeStep };
  /** Where the walk begins that reads the pages of the list. */
  readonly paged: Position;
}

/** Whether a job of the provider can find the rows of a query, and if not, why. */
export type NativeFit =
  | { readonly native: NativeQuery; readonly reason?: never }
  | { readonly reason: string; readonly native?: never };

/** @returns undefined where the provider has no such jobs */
export function judgeNative(object: ObjectSpec, query: Query, limit: number | undefined): NativeFit | undefined {
  const native = object.bulk?.query;
  if (native === undefined) return undefined;
  const { plan, steps } = query;
  if (plan.holds === 'never') return { reason: 'no row can pass the filter' };
  if (plan.queries.length !== 1) return { reason: 'the filter takes several queries of the provider' };
  if (plan.orderBy.length > 0) return { reason: 'the rows of a job of the provider come in no order' };
  if (limit !== undefined) return { reason: 'a job of the provider finds all rows, whatever the limit' };
  const unfit = steps.fields.filter((field) => isUnfit(native, field)).map(({ name }) => `'${name}'`);
  if (unfit.length === 0) return { native };
  return { reason: `a job of the provider does not answer ${unfit.join(', ')}: name the fields without` };
}

function isUnfit({ withoutTypes = [], pages }: NativeQuery, { type, nativeType }: PushedField): boolean {
  return (
    (pages.format === 'csv' && type === 'object') || (nativeType !== undefined && withoutTypes.includes(nativeType))
  );
}

/** The first position of a walk that leaves the work to a job of the provider, if there are rows enough. */
export function nativeStart({ pages }: NativeQuery): Position {
  return { native: { looks: 0 }, skipRows: 0, skipMatches: 0, limit: pages.size };
}

/** What the provider's job is told of a query. */
export function toNativeInput(query: Query, position: Position) {
  return { ...toListInput({ query, start: position }, {}), orderBy: [] };
}

/** One step: the rows are counted and the job started, or it is asked for its state, or a page of its rows is read. */
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

/** Where the provider cannot say how many rows there are, nobody knows that there are many. */
async function countRows(call: InstanceCall, { native, query, position }: NativeWalk): Promise<number | undefined> {
  try {
    return await call.execute(native.count, toNativeInput(query, position));
  } catch (error) {
    if (isAppError(error, 'PROVIDER_REJECTED', 'PROVIDER_TIMEOUT', 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** What the provider does not do for this object or this account is done by pages. */
async function start(call: InstanceCall, walk: NativeWalk, total: number): Promise<NativePart> {
  const { native, query, position } = walk;
  try {
    const { body } = await call.send(native.start(toNativeInput(query, position), call.instance.config));
    const id = jobIdIn(call, native, body);
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
  const { meaning, state, said } = await lookAtJob(call, native, id);
  switch (meaning) {
    case 'open':
    case 'running':
      return wait(walk, { id, looks: position.native.looks + 1 });
    case 'done':
      return { ...NOTHING, next: { ...position, native: { id, looks: position.native.looks, isDone: true } } };
    case 'failed': {
      const { name } = call.instance.connector;
      throw new AppError(
        'PROVIDER_REJECTED',
        `The job ${cutText(id)} of ${name} did not find the rows: it is ${cutText(state)}.`,
        {
          ...(said !== undefined && { providerMessage: cutText(said) }),
        },
      );
    }
  }
}

async function readPage(call: InstanceCall, walk: NativeWalk, id: string): Promise<NativePart> {
  const { native, query, position } = walk;
  const { cursor, limit } = position;
  const place = { id, limit, ...(cursor !== undefined && { cursor }) };
  const response = await call.send(native.pages.request(place, call.instance.config));
  const pacer = createPacer(call.signal);
  const answer = readAs(call, () => readNativeAnswer(native.pages, response, query.steps.fields));
  if (answer.next !== undefined && answer.next === cursor) throw unreadable(call, new Error(CIRCLE));
  const rows = answer.records[Symbol.iterator]();
  const records: Row[] = [];
  let { skipMatches } = position;
  let bytes = 0;
  let counted = 0;
  let count = 0;
  for (let row = readAs(call, () => rows.next()); !row.done; row = readAs(call, () => rows.next())) {
    if (pacer.isDue()) await pacer.pause();
    count++;
    call.assertMembers(row.value);
    const record = query.steps.map(row.value);
    if (!query.steps.matches(record, 0) || skipMatches-- > 0) continue;
    records.push(query.steps.project(record));
    bytes += sizeOf(records.at(-1));
    if (bytes - counted < COUNTED_BYTES) continue;
    if (!call.take(bytes - counted)) throw noRoom();
    counted = bytes;
  }
  if (answer.rowCount !== undefined && answer.rowCount !== count)
    throw unreadable(call, new Error(`The page of the job has ${count} rows of the ${answer.rowCount} that it says.`));
  call.keep(bytes);
  if (answer.next === undefined) return { records, bytes };
  return { records, bytes, next: { ...position, cursor: answer.next, skipMatches: 0 } };
}

/** Records are counted in the memory of the account as they are made, in such steps. */
const COUNTED_BYTES = 1024 * 1024;

const CIRCLE = 'The provider names the page that it has just given as the next one: the rows would never end.';
