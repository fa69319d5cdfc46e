import { type Clock, MOST_SKEW_MS } from '../clock.ts';
import { canonicalJson } from '../db/bound-values.ts';
import { AppError, cutText } from '../errors.ts';
import type { PreparedEvents } from '../events/accept/accept.ts';
import type { RecordAction } from '../events/event-types.ts';
import type { NewEvent } from '../events/model.ts';
import type { PolledResource, PollSettings } from '../instances/polling/poll-settings.ts';
import type { CallReport } from '../resources/call.ts';
import type { ListRequest, RecordList, Resources } from '../resources/index.ts';
import { waitForCallersMs } from '../resources/rate-limits.ts';
import type { Row } from '../where/index.ts';
import { hashOf, type PollPlan } from './plan.ts';
import type { ClaimedPoll, NewlySeen, PollStore, Progress, SeenVersion } from './poll-store.ts';

export interface RunPorts {
  readonly store: Pick<
    PollStore,
    'transaction' | 'advance' | 'seen' | 'see' | 'forgetSeen' | 'seenRecords' | 'noteMissed'
  >;
  readonly resources: Pick<
    Resources,
    'getObject' | 'mappingVersionOf' | 'listRecords' | 'listChildren' | 'listChanges' | 'getRecord' | 'rateLimitOf'
  >;
  readonly prepare: (events: readonly NewEvent[]) => Promise<PreparedEvents>;
  readonly clock: Pick<Clock, 'now'>;
  readonly options: RunOptions;
}

export interface RunOptions {
  /** Maximum number of pages per run. The next run continues from there. */
  readonly mostPages: number;
  /**
   * Maximum number of rows per run if a later run cannot continue, such as for an unsorted list. The run fails if the
   * provider has more.
   */
  readonly mostListed: number;
  /** Maximum number of times that a list of several pages is read again, while rows turn up that it had skipped. */
  readonly mostPasses: number;
}

export interface RunInput {
  readonly poll: ClaimedPoll;
  readonly instance: Parameters<Resources['getObject']>[0]['instance'];
  readonly settings: PollSettings;
  readonly resource: PolledResource;
  readonly signal: AbortSignal;
}

/** Counts of a run. */
export interface RunTally {
  events: number;
  providerCalls: number;
  /** Whether the provider had forgotten the token of its feed, so that the feed was started again. */
  hasLostToken?: boolean;
}

/** The end of a run that has more to read, with the wait before the next one. */
export interface EarlyEnd {
  readonly afterMs: number;
  /** Whether the run ended without progress, to wait for the provider's rate limit. */
  readonly isWait: boolean;
}

/** The run lost its poller: the instance changed since the claim, or another process has the poller. */
export class PollLost extends Error {
  override readonly name = 'PollLost';
}

/** The error of a poll whose object no mapping maps any more. */
export class MappingMissing extends AppError {
  constructor(objectName: string) {
    super(
      'NOT_FOUND',
      `Nothing maps '${cutText(objectName)}' on this instance any more, so the poll is stopped. It resumes from its watermark when a definition and a transformation of '${cutText(objectName)}' are in force again.`,
    );
  }
}

/** A row with its id, version and time of change. */
export interface Reading extends SeenVersion {
  readonly row: Row;
  readonly id: string | undefined;
  readonly updatedMs: number | undefined;
}

/** Row that was not seen before, with whether another version of its record was. */
export type Unseen<Found extends SeenVersion> = Found & { readonly wasThere: boolean };

/** Data that a run commits in one transaction. */
interface Commit {
  readonly progress: Progress;
  readonly events?: readonly NewEvent[];
  readonly seen?: readonly NewlySeen[];
  /** Other versions of the records that were seen are forgotten. */
  readonly replaces?: boolean;
}

export type PollRun = ReturnType<typeof createRun>;

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
/** Number of milliseconds for which seen versions are kept after their records can no longer be requested again. */
const KEEP_SEEN_MS = 24 * HOUR_MS;
/**
 * Maximum number of consecutive runs that leave the rate limit to callers. The next run makes progress, however little of the limit is
 * left, because a provider may always report so.
 */
export const MOST_WAITS = 3;
/** A wait is no longer, unless the interval is: limits are counted by the month at most. */
const LONGEST_WAIT_MS = HOUR_MS;
const MAX_PROVIDER_CALLS = 25;
/** Maximum size of an event with its record; see `buildPayload`. */
const LARGEST_RECORD_CHARACTERS = 2_000_000;
export const EPOCH_MS = 0;
/** The end of the year 9999. */
const LAST_MS = Date.UTC(10_000, 0, 1) - 1;

export function versionKey({ recordKey, version }: SeenVersion): string {
  return `${recordKey.toString('hex')}:${version.toString('hex')}`;
}

/** Creates a run with the steps that all kinds of polls share. `tally` is up to date even if the run throws. */
export function createRun(
  ports: RunPorts,
  { poll, instance, settings, signal }: RunInput,
  plan: PollPlan,
  tally: RunTally,
) {
  const { store, resources, clock, options } = ports;
  // A poller that looks in another way than before begins anew.
  const { kind, watermark } = poll.kind === plan.kind ? poll : { kind: null, watermark: null };
  const feedTokenOf = plan.hasFeed ? configurationHash(instance) : null;
  // Another configuration has other records, of which a token of the provider knows nothing.
  const isSameToken = feedTokenOf !== null && poll.feedTokenOf?.equals(feedTokenOf) === true;
  const begun: Progress = {
    kind,
    watermark,
    feedWatermark: poll.feedWatermark,
    ...tokenOf(isSameToken ? poll.feedToken : null),
  };
  /** Records look different than in the run before, although nothing changed at the provider. */
  const isRemapped = poll.kind !== null && poll.mappingVersion !== plan.mappingVersion;
  /** The records of the provider behind mapped ones. */
  const vendorRows = new WeakMap<Row, Row>();
  let progress = begun;
  let pages = 0;
  let hasMoved = false;

  /**
   * Counts a page.
   * @throws AppError PROVIDER_PROTOCOL for a list without end
   */
  function count({ providerCalls }: CallReport): void {
    tally.providerCalls += providerCalls;
    pages++;
    if (pages > options.mostListed) throw endless();
  }

  /**
   * Returns how the run ends early to leave the provider's rate limit to callers; undefined if it continues. `mayGoOn` is whether the next
   * run can begin where this one ends.
   */
  function endEarly(mayGoOn: boolean): EarlyEnd | undefined {
    const isWait = !(mayGoOn && hasMoved);
    if (!isWait && pages >= options.mostPages) return { afterMs: 0, isWait };
    if (isWait && poll.waits >= MOST_WAITS) return undefined;
    const waitMs = waitForCallersMs(resources.rateLimitOf(instance));
    if (waitMs === undefined) return undefined;
    return { afterMs: Math.min(waitMs, Math.max(poll.intervalMs, LONGEST_WAIT_MS)), isWait };
  }

  async function list(request: Partial<ListRequest>): Promise<RecordList> {
    signal.throwIfAborted();
    const whole = { pageSize: plan.pageSize, maxProviderCalls: MAX_PROVIDER_CALLS, pushdownOnly: false, ...request };
    const page = await withEnd((ended) => {
      const target = { instance, objectName: plan.objectName, signal: ended, keepsFilter: true, vendorRows };
      if (plan.child === undefined) return resources.listRecords(target, whole);
      return resources.listChildren({ ...target, id: plan.child.id, child: plan.child.name }, whole);
    });
    count(page);
    return page;
  }

  /** Counts the memory of the provider's responses until the end of the work. */
  async function withEnd<Result>(work: (ended: AbortSignal) => Promise<Result>): Promise<Result> {
    const end = new AbortController();
    try {
      return await work(AbortSignal.any([signal, end.signal]));
    } finally {
      end.abort();
    }
  }

  /**
   * Stores all parts of a step, or none.
   * @throws PollLost
   */
  async function commit({ progress: next, events = [], seen = [], replaces = false }: Commit): Promise<void> {
    const prepared = await ports.prepare(events);
    await fenced(next, async (via) => {
      await prepared.insert(via);
      await store.see(via, poll, seen, replaces);
    });
    prepared.committed();
    progress = next;
    hasMoved ||= seen.length > 0 || next.watermark?.getTime() !== begun.watermark?.getTime();
    hasMoved ||= next.feedToken !== begun.feedToken;
    tally.events += events.length;
  }

  /**
   * Runs a transaction that is rolled back if this process lost the poller.
   * @throws PollLost
   */
  async function fenced(
    next: Progress,
    work: (via: Parameters<typeof store.advance>[0]) => Promise<void>,
  ): Promise<void> {
    const { mappingVersion, mappedObject } = plan;
    // Records that were read by another mapping than that of the plan are not stored as if they were read by it.
    const inForce = await resources.mappingVersionOf(instance, plan.objectName);
    if ((inForce ?? null) !== mappingVersion) throw new PollLost();
    return store.transaction(async (via) => {
      if (!(await store.advance(via, poll, { ...next, mappingVersion, mappedObject }))) throw new PollLost();
      await work(via);
    });
  }

  function readRow(row: Row): Reading {
    const id = plan.idOf(row, vendorRows.get(row));
    const version = plan.versionOf(row);
    return { row, id, recordKey: id === undefined ? version : hashOf(id), version, updatedMs: plan.updatedOf(row) };
  }

  /** Returns a seen version. Its time is the later one of both clocks, so that it is kept as long as the record may be read again. */
  function seenOf({ recordKey, version, updatedMs = 0 }: Omit<Reading, 'row' | 'id'>): NewlySeen {
    return { recordKey, version, seenAt: new Date(Math.max(clock.now(), Math.min(updatedMs, LAST_MS))) };
  }

  async function findUnseen<Found extends SeenVersion>(readings: readonly Found[]): Promise<readonly Unseen<Found>[]> {
    if (readings.length === 0) return [];
    const recordKeys = readings.map(({ recordKey }) => recordKey);
    const seen = await store.seen(poll, recordKeys);
    const records = new Set(seen.map(({ recordKey }) => recordKey.toString('hex')));
    const versions = new Set(seen.map(versionKey));
    return readings.flatMap((reading) => {
      const [record, version] = [reading.recordKey.toString('hex'), versionKey(reading)];
      if (versions.has(version)) return [];
      const wasThere = records.has(record);
      // A list may show a record twice.
      records.add(record);
      versions.add(version);
      return [{ ...reading, wasThere }];
    });
  }

  function eventOf(change: {
    readonly id: string | undefined;
    readonly action: RecordAction;
    readonly updatedMs: number | undefined;
    readonly record: Row | undefined;
  }): NewEvent {
    const { id, action, updatedMs, record } = change;
    const isLarge = record !== undefined && JSON.stringify(record).length > LARGEST_RECORD_CHARACTERS;
    return {
      accountId: poll.accountId,
      instanceId: poll.instanceId,
      type: `${plan.name}.${action}`,
      objectName: plan.name,
      objectId: id,
      // It is there to be read; without it the event would not be delivered at all.
      object: isLarge ? undefined : record,
      ...(plan.vendorName !== undefined && {
        vendorObjectName: plan.vendorName,
        raw: isLarge || record === undefined ? undefined : vendorRows.get(record),
      }),
      timestamp: updatedMs === undefined ? undefined : new Date(updatedMs),
    };
  }

  /** Deletes versions that neither the list nor the feed can return again. It needs its own statement, so it runs once per hour. */
  async function forgetSeen(): Promise<void> {
    const reachedMs = reachedBy(progress);
    if (hourOf(reachedMs) <= hourOf(reachedBy(begun))) return;
    await store.forgetSeen(poll, new Date(keptFrom(reachedMs)));
  }

  /** Returns the members of the progress for a token of the feed, together with the configuration that it belongs to. */
  function tokenOf(token: string | null): Pick<Progress, 'feedToken' | 'feedTokenOf'> {
    return token === null ? { feedToken: null, feedTokenOf: null } : { feedToken: token, feedTokenOf };
  }

  /** Returns the earlier one of the watermarks. */
  function reachedBy({ watermark, feedWatermark }: Progress): number {
    const marks = [...(plan.kind === 'feed' ? [] : [watermark]), ...(plan.hasFeed ? [feedWatermark] : [])];
    return Math.min(...marks.map((mark) => mark?.getTime() ?? EPOCH_MS));
  }

  /** Returns the time before which seen versions can be deleted, when all changes up to `reachedMs` have been read. */
  function keptFrom(reachedMs: number): number {
    return reachedMs - plan.overlapMs - KEEP_SEEN_MS;
  }

  return {
    plan,
    poll,
    instance,
    settings,
    store,
    resources,
    clock,
    options,
    signal,
    tally,
    begun,
    isRemapped,
    vendorRows,
    progress: () => progress,
    count,
    endEarly,
    list,
    withEnd,
    commit,
    fenced,
    readRow,
    seenOf,
    findUnseen,
    eventOf,
    tokenOf,
    forgetSeen,
    keptFrom,
    /** Returns whether a watermark may have this time. A time in the future would hide earlier changes. */
    isCredible: (ms: number) => ms <= clock.now() + MOST_SKEW_MS,
  };
}

/** Returns the hash of the settings of the element that are no secrets, such as the id of a shared drive. */
function configurationHash({ connector, config }: RunInput['instance']): Buffer {
  const keys = connector.configuration.filter(({ secret }) => secret !== true).map(({ key }) => key);
  return hashOf(canonicalJson([...keys, 'simulator'].toSorted().map((key) => [key, config[key] ?? null])));
}

export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

function endless(): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    'The polled list does not end, or has too many pages. Poll it by a field with the date of change.',
  );
}
