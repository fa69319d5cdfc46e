import { MOST_SKEW_MS } from '../clock.ts';
import { isAppError } from '../errors.ts';
import type { NewEvent } from '../events/model.ts';
import type { ChangeList } from '../resources/index.ts';
import type { Row } from '../where/index.ts';
import { hashOf } from './plan.ts';
import type { Progress, SeenVersion } from './poll-store.ts';
import { type EarlyEnd, HOUR_MS, type PollRun, type Unseen } from './run.ts';

/** Step by which a feed without changes advances, so that hardly any poll must store that it found nothing. */
const UNTIL_STEP_MS = HOUR_MS;
/** Maximum number of changes whose records are read before they are committed. */
const FEED_CHUNK = 20;

type Change = ChangeList['changes'][number] & SeenVersion & { readonly updatedMs: number | undefined };

/** The beginning of the changes that a run reads. */
interface Since {
  readonly since: string;
  /** The provider's position behind the changes that were read before; null if it has none that lasts, or for a new beginning. */
  readonly token: string | null;
}

/** Reads the changes that the provider's feed reports. */
export async function readFeed(run: PollRun): Promise<EarlyEnd | undefined> {
  const { plan, clock } = run;
  const { feedWatermark } = run.progress();
  const watermarkMs = feedWatermark?.getTime() ?? clock.now() - MOST_SKEW_MS;
  let newestMs = watermarkMs;
  const first = await readFirstPage(run, new Date(watermarkMs - plan.overlapMs).toISOString());
  let { page } = first;
  for (;;) {
    const { next: cursor, token = run.progress().feedToken } = page;
    const isByToken = first.token !== null || token !== null;
    const changes = page.changes.map((change) => readChange(run, change, isByToken));
    newestMs = Math.max(newestMs, ...timesOf(run, { page, changes, watermarkMs }).filter(run.isCredible));
    const kind = plan.kind === 'feed' ? plan.kind : run.progress().kind;
    const end = await acceptChanges(run, {
      changes,
      isByToken,
      isSilent: feedWatermark === null,
      isLast: cursor === undefined,
      reached: {
        ...run.progress(),
        ...run.tokenOf(token),
        ...(cursor === undefined && { kind, feedWatermark: new Date(newestMs) }),
      },
    });
    if (end !== undefined) return end;
    if (cursor === undefined) break;
    page = await listChanges(run, { since: first.since, token: first.token, cursor });
  }
  if (plan.kind === 'feed') await run.forgetSeen();
  return undefined;
}

/** Reads the changes behind the token of the poll. If the provider has forgotten it, begins again without a token. */
async function readFirstPage(run: PollRun, since: string): Promise<Since & { readonly page: ChangeList }> {
  const { feedToken } = run.progress();
  if (feedToken !== null) {
    try {
      const begun = { since, token: feedToken };
      return { ...begun, page: await listChanges(run, begun) };
    } catch (error) {
      if (!isAppError(error, 'NOT_FOUND')) throw error;
    }
  }
  const begun = { since, token: null };
  const page = await listChanges(run, begun);
  if (feedToken !== null) run.tally.hasLostToken = true;
  return { ...begun, page };
}

async function listChanges(
  { resources, instance, plan, signal, withEnd, count }: PollRun,
  { since, token, cursor }: Since & { readonly cursor?: string },
): Promise<ChangeList> {
  signal.throwIfAborted();
  const input = { since, ...(token !== null && { token }), ...(cursor !== undefined && { cursor }) };
  const page = await withEnd((ended) =>
    resources.listChanges({ instance, objectName: plan.objectName, signal: ended }, input),
  );
  count(page);
  return page;
}

/** Reads a change. The versions of a feed with tokens depend on the position, so that a page that is read again has the same ones. */
function readChange(run: PollRun, change: ChangeList['changes'][number], isByToken: boolean): Change {
  const { id, action, at, record } = change;
  const atMs = Date.parse(at ?? '');
  // The list shows the same version, and must not report it again.
  const isListed = isByToken && run.plan.kind !== 'feed' && action !== 'deleted' && record !== undefined;
  const position = isByToken ? ` behind ${run.progress().feedToken ?? ''}` : '';
  return {
    ...change,
    recordKey: hashOf(id),
    version: isListed ? run.plan.versionOf(record) : hashOf(`${action} at ${at}${position}`),
    updatedMs: Number.isNaN(atMs) ? undefined : atMs,
  };
}

interface ReadPage {
  readonly page: ChangeList;
  readonly changes: readonly Change[];
  readonly watermarkMs: number;
}

/** Returns the times up to which the feed is complete, as far as the page shows them. Behind a token, nothing is missing. */
function timesOf(run: PollRun, { page, changes, watermarkMs }: ReadPage): readonly number[] {
  const { until = '', token } = page;
  const { feedToken } = run.progress();
  const isByToken = token !== undefined || feedToken !== null;
  const untilMs = until === '' && isByToken ? run.clock.now() - MOST_SKEW_MS : Date.parse(until);
  const isStored = token !== undefined && token !== feedToken;
  const isStep = untilMs - watermarkMs >= UNTIL_STEP_MS || (isStored && !Number.isNaN(untilMs));
  return [...changes.flatMap(({ updatedMs = [] }) => updatedMs), ...(isStep ? [untilMs] : [])];
}

interface AcceptedPage {
  readonly changes: readonly Change[];
  /** Whether the feed continues from tokens. */
  readonly isByToken: boolean;
  /** Whether no events are published for the changes. */
  readonly isSilent: boolean;
  /** Whether this is the last page. */
  readonly isLast: boolean;
  /** The progress of the poller behind this page. */
  readonly reached: Progress;
}

/**
 * Stores the events of a page together with the progress, or none of both. A page whose records must be read first is stored a few at a
 * time, and the progress with the last of them.
 */
async function acceptChanges(run: PollRun, page: AcceptedPage): Promise<EarlyEnd | undefined> {
  const { changes, isByToken, isSilent, isLast, reached } = page;
  const unseen = await run.findUnseen(changes);
  const size = isByToken && !unseen.some(isUnread) ? Math.max(1, unseen.length) : FEED_CHUNK;
  for (let at = 0; at < unseen.length; at += size) {
    const end = at === 0 ? undefined : run.endEarly(true);
    if (end !== undefined) return end;
    const chunk = unseen.slice(at, at + size);
    const events = isSilent ? [] : await toEvents(run, chunk, page);
    const progress = at + size < unseen.length ? run.progress() : reached;
    // A list that is compared as a whole has one version of each record.
    const replaces = isByToken && run.plan.kind === 'snapshot';
    await run.commit({ progress, events, seen: chunk.map(run.seenOf), replaces });
  }
  if (!isSame(reached, run.progress())) await run.commit({ progress: reached });
  return isLast ? undefined : run.endEarly(true);
}

function isUnread({ action, record }: Change): boolean {
  return action !== 'deleted' && record === undefined;
}

function isSame(one: Progress, other: Progress): boolean {
  return (
    one.kind === other.kind &&
    one.feedToken === other.feedToken &&
    one.feedWatermark?.getTime() === other.feedWatermark?.getTime()
  );
}

async function toEvents(
  run: PollRun,
  changes: readonly Unseen<Change>[],
  { isByToken }: Pick<AcceptedPage, 'isByToken'>,
): Promise<readonly NewEvent[]> {
  const unread = changes.filter(isUnread);
  const records = await readRecords(
    run,
    unread.map(({ id }) => id),
  );
  return changes.map(({ id, action: reported, updatedMs, wasThere, record = records.get(id) }) => {
    // The list has shown it before.
    const action = isByToken && reported === 'created' && wasThere ? 'updated' : reported;
    return run.eventOf({ id, action, updatedMs, record: action === 'deleted' ? undefined : record });
  });
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
