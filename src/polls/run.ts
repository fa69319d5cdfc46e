import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { PreparedEvents } from '../events/accept/accept.ts';
import type { NewEvent } from '../events/model.ts';
import type { PolledResource, PollSettings } from '../instances/polling/poll-settings.ts';
import type { CallReport } from '../resources/call.ts';
import type { ChangeList, ListRequest, RecordList, Resources } from '../resources/index.ts';
import { assertInHub } from '../resources/objects.ts';
import type { Row } from '../where/index.ts';
import { hashOf, type PollPlan, planPoll } from './plan.ts';
import type { ClaimedPoll, NewlySeen, PollStore, Progress } from './poll-store.ts';

export interface RunPorts {
  readonly store: Pick<PollStore, 'transaction' | 'advance' | 'seen' | 'see' | 'forgetSeen'>;
  readonly resources: Pick<Resources, 'getObject' | 'listRecords' | 'listChildren' | 'listChanges' | 'getRecord'>;
  readonly prepare: (events: readonly NewEvent[]) => Promise<PreparedEvents>;
  readonly clock: Pick<Clock, 'now'>;
  readonly options: RunOptions;
}

export interface RunOptions {
  readonly leaseMs: number;
  /** Of one run; the next one goes on. */
  readonly mostPages: number;
  /** Of one run where it cannot be gone on with, such as a list in no order. A provider that has more, or never ends, fails it. */
  readonly mostListed: number;
  /** A list of several pages is read again while rows that it had passed over turn up, so many times at most. */
  readonly mostPasses: number;
}

/** The instance that is polled. */
type Polled = Parameters<Resources['getObject']>[0]['instance'];

export interface RunInput {
  readonly poll: ClaimedPoll;
  readonly instance: Polled;
  readonly settings: PollSettings;
  readonly resource: PolledResource;
  readonly signal: AbortSignal;
}

/** What a run did. */
export interface RunTally {
  events: number;
  providerCalls: number;
}

/** A run that has more to read; so long later the next one may begin. */
export interface EarlyEnd {
  readonly afterMs: number;
}

/** The instance is not what it was when its poller was claimed, or another process has the poller. */
export class PollLost extends Error {
  override readonly name = 'PollLost';
}

const MINUTE_MS = 60_000;
/** Clocks of providers and ours differ by less. */
const MOST_SKEW_MS = 15 * MINUTE_MS;
/** What was seen is kept for so much longer than it is asked for again. */
const KEEP_SEEN_MS = 24 * 60 * MINUTE_MS;
/** The share of a provider's rate limit that is left to callers. */
const CALLERS_SHARE = 0.25;
const MAX_PROVIDER_CALLS = 25;
/** Of an event with its record; see `buildPayload`. */
const LARGEST_RECORD_CHARACTERS = 2_000_000;
const EPOCH_MS = 0;
/** The end of the year 9999. */
const LAST_MS = Date.UTC(10_000, 0, 1) - 1;
/** By steps of this length a feed without changes moves on, so that hardly any poll has to store that it found nothing. */
const UNTIL_STEP_MS = 60 * MINUTE_MS;
/** Changes whose records are read before they are committed. */
const FEED_CHUNK = 20;

/**
 * Looks once for changes, and makes events of them. `tally` is kept up to date also when it throws.
 * @throws PollLost; AppError as calls of the provider do; the reason of the signal
 */
export async function runPoll(ports: RunPorts, input: RunInput, tally: RunTally): Promise<EarlyEnd | undefined> {
  const { instance, resource, settings, signal } = input;
  const { hub, objectName = resource.name } = resource.query ?? {};
  if (hub !== undefined) assertInHub(instance, hub);
  const object = await ports.resources.getObject({ instance, objectName, signal });
  const plan = planPoll(resource, settings, object);
  const run = createRun(ports, input, plan, tally);
  if (plan.hasFeed) {
    const end = await run.readFeed();
    if (plan.kind === 'feed' || end !== undefined) return end;
  }
  return plan.kind === 'snapshot' ? run.readAll() : run.readWindow();
}

/** A change that was not seen before. */
interface Fresh {
  readonly seen: NewlySeen;
  readonly event: NewEvent;
}

/** What a row says of itself. */
interface Reading extends Omit<NewlySeen, 'seenAt'> {
  readonly row: Row;
  readonly id: string | undefined;
  readonly updatedMs: number | undefined;
}

type RecordChangeRead = ChangeList['changes'][number] & Reading & { readonly id: string };

/** Whether a record was there before the first poll, as it is. */
type WasThere = (reading: Reading) => boolean;

function versionKey({ recordKey, version }: Pick<Reading, 'recordKey' | 'version'>): string {
  return `${recordKey.toString('hex')}:${version.toString('hex')}`;
}

function createRun(ports: RunPorts, { poll, instance, settings, signal }: RunInput, plan: PollPlan, tally: RunTally) {
  const { store, resources, clock, options } = ports;
  // A poller that looks in another way than before begins anew.
  let progress: Progress =
    poll.kind === plan.kind ? poll : { kind: null, watermark: null, feedWatermark: poll.feedWatermark };
  const begun = progress;
  const isFirst = begun.kind === null;
  let pages = 0;
  let leasedMs = clock.now();

  function count({ providerCalls }: CallReport): void {
    tally.providerCalls += providerCalls;
    pages++;
  }

  /** Callers come first: what is left of the provider's limit is theirs. */
  function earlyEnd({ rateLimit }: CallReport): EarlyEnd | undefined {
    if (pages >= options.mostPages) return { afterMs: 0 };
    const { limit, remaining, resetSeconds = 60 } = rateLimit ?? {};
    if (limit === undefined || remaining === undefined || remaining > limit * CALLERS_SHARE) return undefined;
    return { afterMs: resetSeconds * 1000 };
  }

  async function list(request: Partial<ListRequest>): Promise<RecordList> {
    signal.throwIfAborted();
    const whole = { pageSize: plan.pageSize, maxProviderCalls: MAX_PROVIDER_CALLS, pushdownOnly: false, ...request };
    const page = await withEnd(signal, (ended) => {
      const target = { instance, objectName: plan.objectName, signal: ended };
      if (plan.child === undefined) return resources.listRecords(target, whole);
      return resources.listChildren({ ...target, id: plan.child.id, child: plan.child.name }, whole);
    });
    count(page);
    if (pages > options.mostListed) throw endless();
    // Pages without anything new take time, too: nobody else may begin meanwhile.
    if (clock.now() - leasedMs > options.leaseMs / 2) await commit([], progress);
    return page;
  }

  /** Stores events together with how far the poller is by then; all of it or nothing. */
  async function commit(fresh: readonly Fresh[], next: Progress, seen = fresh.map((each) => each.seen)): Promise<void> {
    const events = await ports.prepare(fresh.map(({ event }) => event));
    const nowMs = clock.now();
    const leaseUntil = new Date(nowMs + options.leaseMs);
    await store.transaction(async (via) => {
      if (!(await store.advance(via, poll, { ...next, leaseUntil }))) throw new PollLost();
      await events.insert(via);
      await store.see(via, poll, seen, plan.kind === 'snapshot');
    });
    events.committed();
    progress = next;
    leasedMs = nowMs;
    tally.events += fresh.length;
  }

  function readRow(row: Row): Reading {
    const id = plan.idOf(row);
    const version = plan.versionOf(row);
    return { row, id, recordKey: id === undefined ? version : hashOf(id), version, updatedMs: plan.updatedOf(row) };
  }

  /** The later of both clocks, so that it is not forgotten while it may be read again. */
  function seenOf({ recordKey, version }: Reading, updatedMs: number | undefined): NewlySeen {
    return { recordKey, version, seenAt: new Date(Math.max(clock.now(), Math.min(updatedMs ?? 0, LAST_MS))) };
  }

  async function findNew(readings: readonly Reading[]): Promise<readonly (Reading & { readonly wasThere: boolean })[]> {
    if (readings.length === 0) return [];
    const known = new Map<string, string[]>();
    for (const { recordKey, version } of await store.seen(
      poll,
      readings.map((reading) => reading.recordKey),
    )) {
      const key = recordKey.toString('hex');
      known.set(key, [...(known.get(key) ?? []), version.toString('hex')]);
    }
    const found: (Reading & { readonly wasThere: boolean })[] = [];
    for (const reading of readings) {
      const key = reading.recordKey.toString('hex');
      const versions = known.get(key) ?? [];
      const version = reading.version.toString('hex');
      if (versions.includes(version)) continue;
      // A list may show a record twice.
      known.set(key, [...versions, version]);
      found.push({ ...reading, wasThere: versions.length > 0 });
    }
    return found;
  }

  function toFresh(reading: Reading & { readonly wasThere: boolean }): Fresh {
    const { row, id, updatedMs, wasThere } = reading;
    const isCreated = plan.isCreated(row) ?? (plan.kind === 'snapshot' && !wasThere);
    const action = isCreated && !wasThere ? 'created' : 'updated';
    return {
      seen: seenOf(reading, updatedMs),
      event: eventOf({ id, action, atMs: updatedMs, record: row }),
    };
  }

  function eventOf(change: {
    readonly id: string | undefined;
    readonly action: string;
    readonly atMs: number | undefined;
    readonly record: Row | undefined;
  }): NewEvent {
    const { id, action, atMs, record } = change;
    const isLarge = record !== undefined && JSON.stringify(record).length > LARGEST_RECORD_CHARACTERS;
    return {
      accountId: poll.accountId,
      instanceId: poll.instanceId,
      type: `${plan.name}.${action}`,
      objectName: plan.name,
      objectId: id,
      // It is there to be read; without it the event would not be delivered at all.
      object: isLarge ? undefined : record,
      timestamp: atMs === undefined ? undefined : new Date(atMs),
    };
  }

  /** Whether a watermark may be so late. What records say of the future would hide what comes before. */
  function isCredible(ms: number): boolean {
    return ms <= clock.now() + MOST_SKEW_MS;
  }

  /** Which records are older than the first poll. */
  async function baseline(): Promise<{ readonly watermarkMs: number; readonly wasThere: WasThere }> {
    if (settings.backfill) return { watermarkMs: EPOCH_MS, wasThere: () => false };
    // The clocks may differ: what changes while the first poll reads cannot be told from what was there.
    if (plan.newest === undefined) return { watermarkMs: clock.now() - MOST_SKEW_MS, wasThere: () => true };
    const { records, nextPage } = await list(plan.newest);
    const shown = records.map(readRow);
    const newestMs = shown[0]?.updatedMs ?? EPOCH_MS;
    const watermarkMs = isCredible(newestMs) ? newestMs : clock.now() - MOST_SKEW_MS;
    // At the time of the newest one more records may change: those of the list are known one by one, unless it ends within that time.
    const isWhole = nextPage === undefined || (shown.at(-1)?.updatedMs ?? newestMs) < newestMs;
    const known = new Set(shown.map(versionKey));
    const untilMs = isWhole ? newestMs - 1 : newestMs;
    return {
      watermarkMs,
      wasThere: (reading) =>
        (reading.updatedMs ?? Number.NEGATIVE_INFINITY) <= untilMs || known.has(versionKey(reading)),
    };
  }

  async function readWindow(): Promise<EarlyEnd | undefined> {
    const startedMs = clock.now();
    const { watermarkMs, wasThere } =
      progress.kind === null
        ? await baseline()
        : { watermarkMs: progress.watermark?.getTime() ?? EPOCH_MS, wasThere: () => false };
    const before = { ...progress, kind: plan.kind, watermark: new Date(watermarkMs) };
    const sinceMs = Math.max(EPOCH_MS, watermarkMs - plan.overlapMs);
    let newestMs = plan.hasDates ? watermarkMs : Math.max(watermarkMs, startedMs - MOST_SKEW_MS);
    let isCertain = false;
    for (let pass = 1; pass <= options.mostPasses && !isCertain; pass++) {
      const { isComplete, end, found } = await readPass(before, { sinceMs, wasThere });
      if (end !== undefined) return end;
      newestMs = Math.max(newestMs, found.newestMs);
      isCertain = isComplete || (pass > 1 && found.count === 0);
    }
    // Where rows kept moving, the next run reads them once more.
    const end = isCertain ? { ...before, watermark: new Date(newestMs) } : before;
    const isSame = progress.kind === end.kind && progress.watermark?.getTime() === end.watermark?.getTime();
    if (!isSame) await commit([], end);
    await forgetSeen();
    return undefined;
  }

  /** What is not asked for again, neither of the list nor of the feed. It is a statement of its own, so it is done when an hour is full. */
  async function forgetSeen(): Promise<void> {
    const reachedMs = reachedBy(progress);
    const hour = (ms: number) => Math.floor(ms / (60 * MINUTE_MS));
    if (hour(reachedMs) <= hour(reachedBy(begun))) return;
    await store.forgetSeen(poll, new Date(reachedMs - plan.overlapMs - KEEP_SEEN_MS));
  }

  /** The earlier of its watermarks. */
  function reachedBy({ watermark, feedWatermark }: Progress): number {
    const marks = [...(plan.kind === 'feed' ? [] : [watermark]), ...(plan.hasFeed ? [feedWatermark] : [])];
    return Math.min(...marks.map((mark) => mark?.getTime() ?? EPOCH_MS));
  }

  /**
   * Reads everything from a time on, page by page, each of which is committed before the next. One page is one moment of the provider; between
   * several of them rows move, and what a row that leaves lets move forward is passed over. Where the pages come in the order of changes, each
   * begins at the time of the last row of the one before, so that rows that moved are met again. Elsewhere, and where more than a page changed
   * at one time, the provider's pages are followed: then nothing is complete before everything was read once more and nothing new was found.
   */
  async function readPass(
    before: Progress & { readonly watermark: Date },
    { sinceMs, wasThere }: { readonly sinceMs: number; readonly wasThere: WasThere },
  ) {
    let request = plan.since(sinceMs);
    const isSorted = request.orderBy !== undefined && plan.newest !== undefined;
    let fromMs = sinceMs;
    let nextPage: string | undefined;
    let hasFollowed = false;
    const found = { count: 0, newestMs: Number.NEGATIVE_INFINITY };
    for (;;) {
      const page = await list({ ...request, ...(nextPage !== undefined && { nextPage }) });
      const readings = page.records
        .map(readRow)
        .filter(({ updatedMs }) => !plan.filterByUpdated || updatedMs === undefined || updatedMs >= sinceMs);
      const lastMs = readings.at(-1)?.updatedMs;
      for (const { updatedMs } of readings) {
        if (updatedMs !== undefined && isCredible(updatedMs)) found.newestMs = Math.max(found.newestMs, updatedMs);
      }
      const unseen = await findNew(readings);
      const [known, fresh] = [[] as NewlySeen[], [] as Fresh[]];
      for (const reading of unseen) {
        if (wasThere(reading)) known.push(seenOf(reading, reading.updatedMs));
        else fresh.push(toFresh(reading));
      }
      found.count += unseen.length;
      const reachedMs = hasFollowed ? fromMs : lastMs;
      const isReached =
        isSorted && reachedMs !== undefined && reachedMs > before.watermark.getTime() && isCredible(reachedMs);
      const next = isReached ? { ...before, watermark: new Date(reachedMs) } : before;
      // The first commit also says that the poller has begun: before it, a first poll begins anew.
      const mayAdvance = progress.kind !== null || isSorted || page.nextPage === undefined;
      if (unseen.length > 0 || (isSorted && page.nextPage !== undefined)) {
        await commit(fresh, mayAdvance ? next : { ...progress }, [...known, ...fresh.map((each) => each.seen)]);
      }
      if (page.nextPage === undefined) return { isComplete: !hasFollowed, end: undefined, found };
      const end = isSorted ? earlyEnd(page) : undefined;
      if (end !== undefined) return { isComplete: false, end, found };
      if (isSorted && !hasFollowed && lastMs !== undefined && lastMs > fromMs) {
        fromMs = lastMs;
        request = plan.since(lastMs);
        nextPage = undefined;
      } else {
        hasFollowed = true;
        nextPage = page.nextPage;
      }
    }
  }

  /** Compares all that is there with what was there. */
  async function readAll(): Promise<EarlyEnd | undefined> {
    const next: Progress = { ...progress, kind: 'snapshot' };
    const isSilent = isFirst && !settings.backfill;
    let nextPage: string | undefined;
    do {
      const page: RecordList = await list({ ...plan.since(clock.now()), ...(nextPage !== undefined && { nextPage }) });
      const unseen = await findNew(page.records.map(readRow));
      const fresh = unseen.map(toFresh);
      nextPage = page.nextPage;
      const isLast = nextPage === undefined;
      const seen = fresh.map((each) => each.seen);
      if (unseen.length > 0 || (isLast && isFirst)) await commit(isSilent ? [] : fresh, isLast ? next : progress, seen);
    } while (nextPage !== undefined);
    return undefined;
  }

  /** What the provider tells of changes. */
  async function readFeed(): Promise<EarlyEnd | undefined> {
    const isFirstFeed = progress.feedWatermark === null;
    const watermarkMs = progress.feedWatermark?.getTime() ?? clock.now() - MOST_SKEW_MS;
    const since = new Date(watermarkMs - plan.overlapMs).toISOString();
    let newestMs = watermarkMs;
    let cursor: string | undefined;
    do {
      signal.throwIfAborted();
      const input = { since, ...(cursor !== undefined && { cursor }) };
      const page: ChangeList = await withEnd(signal, (ended) =>
        resources.listChanges({ instance, objectName: plan.objectName, signal: ended }, input),
      );
      count(page);
      if (pages > options.mostListed) throw endless();
      const untilMs = Date.parse(page.until ?? '');
      if (untilMs - watermarkMs >= UNTIL_STEP_MS && isCredible(untilMs)) newestMs = Math.max(newestMs, untilMs);
      const readings = page.changes.map((change) => {
        const atMs = Date.parse(change.at);
        if (isCredible(atMs)) newestMs = Math.max(newestMs, atMs);
        const version = hashOf(`${change.action} at ${change.at}`);
        return {
          ...change,
          row: {},
          recordKey: hashOf(change.id),
          version,
          updatedMs: Number.isNaN(atMs) ? undefined : atMs,
        };
      });
      const byKey = new Map(readings.map((reading) => [versionKey(reading), reading]));
      const unseen = await findNew(readings);
      cursor = page.next;
      for (let at = 0; at < unseen.length; at += FEED_CHUNK) {
        const chunk = unseen.slice(at, at + FEED_CHUNK);
        const fresh: Fresh[] = [];
        for (const reading of chunk) {
          const change = byKey.get(versionKey(reading));
          if (!isFirstFeed && change !== undefined) fresh.push(await freshOf(change));
        }
        const seen = chunk.map((reading) => seenOf(reading, reading.updatedMs));
        await commit(fresh, progress, seen);
        const end = fresh.length === 0 ? undefined : earlyEnd(page);
        if (end !== undefined) return end;
      }
    } while (cursor !== undefined);
    const kind = plan.kind === 'feed' ? plan.kind : progress.kind;
    const next = { ...progress, kind, feedWatermark: new Date(newestMs) };
    if (kind !== progress.kind || newestMs !== progress.feedWatermark?.getTime()) await commit([], next);
    if (plan.kind === 'feed') await forgetSeen();
    return undefined;
  }

  async function freshOf(change: RecordChangeRead): Promise<Fresh> {
    const { id, action, updatedMs } = change;
    const record = action === 'deleted' ? undefined : (change.record ?? (await readRecord(id)));
    return { seen: seenOf(change, updatedMs), event: eventOf({ id, action, atMs: updatedMs, record }) };
  }

  /** Undefined: it is gone by now, or cannot be read; the event tells of it nevertheless. */
  async function readRecord(id: string): Promise<Row | undefined> {
    try {
      const found = await withEnd(signal, (ended) =>
        resources.getRecord({ instance, objectName: plan.objectName, signal: ended }, id),
      );
      tally.providerCalls += found.providerCalls;
      return found.record;
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND', 'OPERATION_UNSUPPORTED', 'PROVIDER_REJECTED')) return undefined;
      throw error;
    }
  }

  return { readWindow, readAll, readFeed };
}

function endless(): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    'The list that is polled has no end, or too many pages. Poll it by a field that tells when records changed.',
  );
}

/** What responses of the provider hold in memory is counted until the end of the work. */
async function withEnd<Result>(signal: AbortSignal, work: (ended: AbortSignal) => Promise<Result>): Promise<Result> {
  const end = new AbortController();
  try {
    return await work(AbortSignal.any([signal, end.signal]));
  } finally {
    end.abort();
  }
}
