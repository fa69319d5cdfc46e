import { createHash } from 'node:crypto';
import { type Clock, sleep } from '../clock.ts';
import type { Instance } from '../instances/instance.ts';
import { createPacer } from '../pace.ts';
import type { Resources } from '../resources/index.ts';
import type { Position } from '../resources/page.ts';
import type { Walk, WalkedPage } from '../resources/walks.ts';
import type { PushedField } from '../where/index.ts';
import type { BulkStore } from './bulk-store.ts';
import { type BegunJob, type CallCount, createFileWriter, type FileWriter, fenced } from './file-writer.ts';
import type { NativeOwner } from './forget-native.ts';
import type { ClaimedJob, FileColumn } from './job.ts';
import { createPages, type Pages } from './pages.ts';
import { createSlice, type SliceEnd, type SliceInput, type SliceOptions } from './slice.ts';

export interface DownloadPorts {
  readonly store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'restart'>;
  readonly resources: Pick<Resources, 'planWalk' | 'readPage' | 'rateLimitOf'>;
  readonly clock: Clock;
  /** Removes the provider's job, which may still be running. Never rejects. */
  readonly forget: (job: NativeOwner) => Promise<void>;
  readonly options: DownloadOptions;
}

export interface DownloadOptions extends SliceOptions {
  /** Milliseconds after which rows that were read are stored, however few they are. */
  readonly storeMs: number;
  /** Number of bytes at which a chunk is stored. */
  readonly chunkBytes: number;
}

/** Maximum pause after a page, in milliseconds. The pause is as long as the writing took, so that callers get their turns. */
const LONGEST_REST_MS = 50;

/**
 * Continues a download: reads its rows page by page and stores them, each time with the position of the next page. After an interruption,
 * rows that were not stored are read again from there, so each row is in the file once. `calls` is up to date even if it throws.
 * @throws JobLost; AppError as calls of the provider; the reason of the signal; errors of the database
 */
export async function download(
  ports: DownloadPorts,
  { job, instance, signal }: SliceInput,
  calls: CallCount,
): Promise<SliceEnd> {
  const { resources, clock, options } = ports;
  const walk = await resources.planWalk({ instance, objectName: job.objectName, signal }, job.query);
  const begun = await begin(ports, { job, instance, walk });
  const writer = createFileWriter(ports, { job, begun, calls, signal });
  const pages = createPages(ports, {
    target: { instance, objectName: job.objectName, signal },
    query: { ...job.query, mappingVersion: walk.mappingVersion },
    walk,
    onPage: ({ providerCalls }) => {
      calls.providerCalls += providerCalls;
    },
  });
  const { limit = Number.POSITIVE_INFINITY } = job.query;
  const slice = createSlice(ports, { job, instance });
  const stopEarly = () => slice.stopEarly(writer.hasStored());

  try {
    for (let position: Position | undefined = begun.position; position !== undefined; ) {
      const stop = pages.isReading() ? undefined : stopEarly();
      if (stop !== undefined) {
        await writer.settle(position);
        return { kind: 'later', ...stop };
      }
      const page = await readOrSettle(pages, writer, position, signal);
      // The next slice finds another walk, and begins the file anew.
      if (page.isOutdated) return { kind: 'later', afterMs: 0, isWait: false };
      const known = Math.min(page.total ?? limit, limit);
      if (page.total !== undefined) writer.estimate(known);
      if (page.isLost) {
        await writer.settle(position);
        await fenced(ports.store, (via) => ports.store.restart(via, job));
        return { kind: 'later', afterMs: 0, isWait: false };
      }
      if (page.waitMs !== undefined && page.next !== undefined) {
        await settleNative(ports, { job, writer, next: page.next });
        return { kind: 'later', afterMs: page.waitMs, isWait: false };
      }
      const wanted = limit - writer.recordCount();
      const behindIt = known - writer.recordCount() - page.records.length;
      const next: Position | undefined = page.records.length < wanted ? page.next : undefined;
      // While this page is written the next ones are on their way.
      if (next !== undefined && stopEarly() === undefined) pages.begin(next, behindIt);
      const beganMs = clock.steady();
      await writePage(writer, { page, position, wanted, signal });
      pages.release();
      await sleep(clock, Math.min(clock.steady() - beganMs, LONGEST_REST_MS), signal);
      if (next !== undefined && writer.idleMs() >= options.storeMs) await writer.store(next);
      position = next;
    }
    return { kind: 'done', last: await writer.finish() };
  } finally {
    pages.close();
  }
}

/** Stores the rows that were read before a call failed. Otherwise a job could not progress with a provider that fails often. */
async function readOrSettle(
  pages: Pages,
  writer: FileWriter,
  position: Position,
  signal: AbortSignal,
): Promise<WalkedPage> {
  try {
    return await pages.read(position);
  } catch (error) {
    if (!signal.aborted) await writer.settle(position);
    throw error;
  }
}

/** Removes a job of the provider that was just started and whose id could not be stored. */
async function settleNative(
  { forget }: DownloadPorts,
  { job, writer, next }: { readonly job: ClaimedJob; readonly writer: FileWriter; readonly next: Position },
): Promise<void> {
  try {
    await writer.settle(next);
  } catch (error) {
    const { id, looks } = next.native ?? {};
    if (id !== undefined && looks === 0) await forget({ ...job, nativeJob: id });
    throw error;
  }
}

interface ReadPage {
  readonly page: WalkedPage;
  readonly position: Position;
  /** Rows. */
  readonly wanted: number;
  readonly signal: AbortSignal;
}

async function writePage(writer: FileWriter, { page, position, wanted, signal }: ReadPage): Promise<void> {
  const pacer = createPacer(signal);
  const count = Math.min(wanted, page.records.length);
  for (const [index, row] of page.records.entries()) {
    if (index === count) return;
    writer.write(row);
    if (writer.isFull()) await writer.store({ ...position, skipMatches: position.skipMatches + index + 1 });
    if (pacer.isDue()) await pacer.pause();
  }
}

/** A job whose walk is not what it was, because the object or the instance changed, begins anew. @throws JobLost */
async function begin(
  { store, forget }: Pick<DownloadPorts, 'store' | 'forget'>,
  { job, instance, walk }: { readonly job: ClaimedJob; readonly instance: Instance; readonly walk: Walk },
): Promise<BegunJob> {
  const { fields, position, inputPosition, recordCount, failedCount, byteCount, estimatedTotal } = job;
  const walkKey = createHash('sha256')
    .update(JSON.stringify([instance.settingsVersion, walk.key]))
    .digest('base64');
  if (walkKey === job.walkKey && fields !== null && position !== null)
    return { fields, walkKey, position, inputPosition, recordCount, failedCount, byteCount, estimatedTotal };
  if (job.walkKey !== null) {
    await fenced(store, (via) => store.restart(via, job));
    await forget(job);
  }
  const columns = columnsOf(walk.fields);
  const none = { inputPosition: null, recordCount: 0, failedCount: 0, byteCount: 0, estimatedTotal: null };
  return { fields: columns, walkKey, position: walk.start, ...none };
}

/** Returns one column per name, however often it was requested. */
function columnsOf(fields: readonly PushedField[]): readonly FileColumn[] {
  const byName = new Map(fields.map(({ name, type, format }) => [name, { name, type, format }]));
  return [...byName.values()];
}
