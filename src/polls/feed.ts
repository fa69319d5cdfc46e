import { MOST_SKEW_MS } from '../clock.ts';
import { isAppError } from '../errors.ts';
import type { NewEvent } from '../events/model.ts';
import type { ChangeList } from '../resources/index.ts';
import type { Row } from '../where/index.ts';
import { hashOf } from './plan.ts';
import type { SeenVersion } from './poll-store.ts';
import { type EarlyEnd, HOUR_MS, type PollRun } from './run.ts';

/** Step by which a feed without changes advances, so that hardly any poll must store that it found nothing. */
const UNTIL_STEP_MS = HOUR_MS;
/** Changes whose records are read before they are committed. */
const FEED_CHUNK = 20;

type Change = ChangeList['changes'][number] & SeenVersion & { readonly updatedMs: number | undefined };

/** Reads the changes that the provider's feed reports. */
export async function readFeed(run: PollRun): Promise<EarlyEnd | undefined> {
  const { plan, clock } = run;
  const { feedWatermark } = run.progress();
  const watermarkMs = feedWatermark?.getTime() ?? clock.now() - MOST_SKEW_MS;
  const since = new Date(watermarkMs - plan.overlapMs).toISOString();
  let newestMs = watermarkMs;
  let cursor: string | undefined;
  do {
    const page = await listChanges(run, { since, cursor });
    const changes = page.changes.map(readChange);
    newestMs = Math.max(newestMs, ...timesOf(page, changes, watermarkMs).filter(run.isCredible));
    const end = await acceptChanges(run, {
      changes,
      isSilent: feedWatermark === null,
      isLast: page.next === undefined,
    });
    if (end !== undefined) return end;
    cursor = page.next;
  } while (cursor !== undefined);
  const kind = plan.kind === 'feed' ? plan.kind : run.progress().kind;
  if (kind !== run.progress().kind || newestMs !== feedWatermark?.getTime()) {
    await run.commit({ progress: { ...run.progress(), kind, feedWatermark: new Date(newestMs) } });
  }
  if (plan.kind === 'feed') await run.forgetSeen();
  return undefined;
}

async function listChanges(
  { resources, instance, plan, signal, withEnd, count }: PollRun,
  input: { readonly since: string; readonly cursor?: string },
): Promise<ChangeList> {
  signal.throwIfAborted();
  const page = await withEnd((ended) =>
    resources.listChanges({ instance, objectName: plan.objectName, signal: ended }, input),
  );
  count(page);
  return page;
}

function readChange(change: ChangeList['changes'][number]): Change {
  const atMs = Date.parse(change.at);
  return {
    ...change,
    recordKey: hashOf(change.id),
    version: hashOf(`${change.action} at ${change.at}`),
    updatedMs: Number.isNaN(atMs) ? undefined : atMs,
  };
}

/** Returns the times up to which the feed is complete, as far as the page shows them. */
function timesOf({ until = '' }: ChangeList, changes: readonly Change[], watermarkMs: number): readonly number[] {
  const untilMs = Date.parse(until);
  const isStep = untilMs - watermarkMs >= UNTIL_STEP_MS;
  return [...changes.flatMap(({ updatedMs = [] }) => updatedMs), ...(isStep ? [untilMs] : [])];
}

interface AcceptedPage {
  readonly changes: readonly Change[];
  /** Whether no events are published for the changes. */
  readonly isSilent: boolean;
  /** Whether this is the last page. */
  readonly isLast: boolean;
}

async function acceptChanges(run: PollRun, { changes, isSilent, isLast }: AcceptedPage): Promise<EarlyEnd | undefined> {
  const unseen = await run.findUnseen(changes);
  for (let at = 0; at < unseen.length; at += FEED_CHUNK) {
    const end = at === 0 ? undefined : run.endEarly(true);
    if (end !== undefined) return end;
    const chunk = unseen.slice(at, at + FEED_CHUNK);
    const events = isSilent ? [] : await toEvents(run, chunk);
    await run.commit({ progress: run.progress(), events, seen: chunk.map(run.seenOf) });
  }
  return isLast ? undefined : run.endEarly(true);
}

async function toEvents(run: PollRun, changes: readonly Change[]): Promise<readonly NewEvent[]> {
  const unread = changes.filter(({ action, record }) => action !== 'deleted' && record === undefined);
  const records = await readRecords(
    run,
    unread.map(({ id }) => id),
  );
  return changes.map(({ id, action, updatedMs, record = records.get(id) }) =>
    run.eventOf({ id, action, updatedMs, record: action === 'deleted' ? undefined : record }),
  );
}

/** Reads records by id. Records that were deleted or cannot be read are left out; their events have no record. */
async function readRecords(run: PollRun, ids: readonly string[]): Promise<ReadonlyMap<string, Row>> {
  const listed = ids.length > 1 ? await listRecords(run, ids) : [];
  const records = new Map(listed.map((row) => [run.readRow(row).id ?? '', row]));
  // A list may not show yet what is new.
  for (const id of ids) {
    const record = records.get(id) ?? (await readRecord(run, id));
    if (record !== undefined) records.set(id, record);
  }
  return records;
}

/** Returns an empty list where the provider cannot return several records at once. */
async function listRecords(run: PollRun, ids: readonly string[]): Promise<readonly Row[]> {
  const where = run.plan.whereIds?.(ids);
  if (where === undefined) return [];
  try {
    return (await run.list({ where, pageSize: ids.length, pushdownOnly: true })).records;
  } catch (error) {
    if (isAppError(error, ...UNREADABLE, 'WHERE_UNSUPPORTED', 'WHERE_INVALID')) return [];
    throw error;
  }
}

const UNREADABLE = ['NOT_FOUND', 'OPERATION_UNSUPPORTED', 'PROVIDER_REJECTED'] as const;

async function readRecord(run: PollRun, id: string): Promise<Row | undefined> {
  const { resources, instance, plan, tally, withEnd } = run;
  try {
    const found = await withEnd((ended) =>
      resources.getRecord({ instance, objectName: plan.objectName, signal: ended, vendorRows: run.vendorRows }, id),
    );
    tally.providerCalls += found.providerCalls;
    return found.record;
  } catch (error) {
    if (isAppError(error, ...UNREADABLE)) return undefined;
    throw error;
  }
}
