import type { OpenRun, RunFault } from '../activity/runs.ts';
import { sleep } from '../clock.ts';
import { isAppError } from '../errors.ts';
import { createGroupCommit, type Unit } from '../events/accept/group-commit.ts';
import { createPool } from '../events/fairness.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import { createDueLooks, every } from '../events/timers.ts';
import { readEventSettings } from '../instances/event-settings.ts';
import type { Instance } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import { errorTypeOf, type Span, type SpanAttributes, within } from '../trace.ts';
import type { PollMetrics, PollOutcome } from './poll-metrics.ts';
import {
  type ClaimedPoll,
  FAILURES_NOTIFIED,
  type PollKey,
  type PollStore,
  type RunResult,
  type SeenLookup,
  type SeenVersion,
} from './poll-store.ts';
import {
  type EarlyEnd,
  MappingMissing,
  MOST_WAITS,
  PollLost,
  type RunOptions,
  type RunPorts,
  type RunTally,
} from './run.ts';
import { runPoll } from './run-poll.ts';
import { createSettingsCache } from './settings-cache.ts';

export interface PollerOptions extends RunOptions {
  /** Maximum number of pollers that this process runs at a time. One account gets a share of it, half if it is alone; see `createPool`. */
  readonly concurrency: number;
  /** Maximum milliseconds between two queries for due pollers. */
  readonly lookMs: number;
  /**
   * Minimum milliseconds between two queries, so that one claims several. While more are due than there are slots, a query runs whenever a
   * quarter of the slots is free.
   */
  readonly gatherMs: number;
  /** Maximum milliseconds that results wait, to be stored together. */
  readonly finishMs: number;
  /** A failing poller waits longer with each failure, up to this limit unless its interval is longer. */
  readonly longestBackoffMs: number;
  /** Milliseconds without a renewal after which other processes may take over the polls of this process. */
  readonly leaseMs: number;
}

export const POLLER_OPTIONS: PollerOptions = {
  concurrency: 64,
  lookMs: 1_000,
  gatherMs: 200,
  finishMs: 20,
  leaseMs: 30_000,
  longestBackoffMs: 3_600_000,
  mostPages: 500,
  mostListed: 10_000,
  mostPasses: 4,
};

export interface PollerPorts extends Pick<RunPorts, 'resources' | 'prepare'> {
  readonly store: PollStore;
  readonly getInstances: (
    keys: readonly { readonly accountId: number; readonly id: number }[],
  ) => Promise<readonly Instance[]>;
  /** Prepares notifications for storage. */
  readonly prepareNotice: Notifications['prepare'];
  readonly openRun: OpenRun;
  /** Called when a poll was stopped because nothing maps its object. */
  readonly noteStopped: (poll: PollKey) => void;
  readonly measures: PollMetrics;
  readonly options: PollerOptions;
}

export type Poller = ReturnType<typeof createPoller>;

/** The share of the slots that are filled at a time while more pollers are due than there are slots. */
const REFILL_SHARE = 1 / 4;
/** Number of times that a lease is renewed within its duration. */
const RENEWALS = 3;
/** Rows of one statement that looks for versions that were seen. */
const MOST_LOOKED_UP = 5_000;

const GIVEN_BACK = { error: undefined, isGivenBack: true, hasWaited: false, awaitsMapping: false } as const;

/** The share of the interval by which chance moves the next run, so that pollers with the same start drift apart. */
const JITTER = 0.05;

/** Creates the poller, which runs due polls. Each poll runs in one process at a time. */
export function createPoller(
  { clock, log, random, tracer, buckets }: Pick<Platform, 'clock' | 'log' | 'random' | 'tracer' | 'buckets'>,
  { store, resources, prepare, prepareNotice, openRun, getInstances, noteStopped, measures, options }: PollerPorts,
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const slots = createPool(options.concurrency);
  const running = new Map<ClaimedPoll, { readonly work: Promise<void>; readonly end: AbortController }>();
  const finished: RunResult[] = [];
  const readSettings = createSettingsCache();
  const runStore = { ...store, seen: gatherSeen(store) };
  let storing: Promise<void> | undefined;
  /** Whether more pollers may be due than the last query claimed. It counts the slots that became free since then. */
  let isBehind = false;
  let freed = 0;
  const looks = createDueLooks({
    clock,
    signal,
    options,
    nextDue: (now) => store.nextDue(now, buckets.held()),
    takeDue,
    noteFailure: (error) => log.warn({ err: error }, 'could not look for due polls; trying again'),
  });
  let endRenewals: (() => Promise<void>) | undefined;

  async function takeDue(noteQuery: () => void): Promise<boolean> {
    let found: number;
    do {
      noteQuery();
      freed = 0;
      found = await claim();
      // Other accounts than those that have all they may have now.
    } while (isBehind && found > 0 && slots.free() > 0 && !signal.aborted);
    return found > 0 || isBehind;
  }

  /**
   * Claims due pollers and starts them.
   * @returns the number of claimed pollers
   */
  async function claim(): Promise<number> {
    const claimable = slots.claimable();
    const { limit, share, except } = claimable;
    const held = buckets.held();
    isBehind = limit <= 0;
    if (isBehind || held.length === 0) return 0;
    const nowMs = clock.now();
    const leaseUntil = new Date(nowMs + options.leaseMs);
    const { claimed, stopped } = await store.claim({ buckets: held, now: new Date(nowMs), leaseUntil, ...claimable });
    if (claimed.length > 0) await begin(claimed);
    const byAccount = Map.groupBy(claimed, ({ accountId }) => accountId);
    const isFull = claimed.length >= limit || byAccount.values().some(({ length }) => length >= share);
    isBehind = except.length > 0 || isFull || stopped > 0;
    return claimed.length + stopped;
  }

  async function begin(claimed: readonly ClaimedPoll[]): Promise<void> {
    const instances = await instancesOf(claimed);
    for (const poll of claimed) {
      slots.take(poll.accountId);
      const end = new AbortController();
      if (signal.aborted) end.abort(signal.reason);
      const instance = instances.get(nameOf({ accountId: poll.accountId, id: poll.instanceId }));
      const work = run({ poll, instance, ended: end.signal });
      running.set(poll, { work, end });
      void work.finally(() => leave(poll));
    }
  }

  function leave(poll: ClaimedPoll): void {
    running.delete(poll);
    slots.give(poll.accountId);
    freed++;
    if (isBehind && freed >= options.concurrency * REFILL_SHARE) looks.look();
  }

  /** Renews the leases, because a run may take longer with a slow provider, or with many changes. */
  async function renew(): Promise<void> {
    if (running.size === 0) return;
    try {
      await store.renew([...running.keys()], new Date(clock.now() + options.leaseMs));
    } catch (error) {
      log.warn(
        { err: error, polls: running.size },
        'could not renew the leases of polls; other processes may take them over',
      );
    }
  }

  /**
   * Returns the instances of the pollers. It releases pollers whose instance it cannot read, because no other process could take them
   * before the lease ends.
   */
  async function instancesOf(claimed: readonly ClaimedPoll[]): Promise<ReadonlyMap<string, Instance>> {
    try {
      const found = await getInstances(claimed.map(({ accountId, instanceId }) => ({ accountId, id: instanceId })));
      return new Map(found.map((instance) => [nameOf(instance), instance]));
    } catch (error) {
      const [startedAt, nextDue] = [new Date(clock.now()), new Date(clock.now() + options.lookMs)];
      for (const poll of claimed) finish({ ...poll, startedAt, nextDue, ...GIVEN_BACK, events: 0, providerCalls: 0 });
      throw error;
    }
  }

  function run(begun: Begun): Promise<void> {
    const span = tracer?.begin({ name: `poll ${begun.poll.resource}` });
    return span === undefined ? runOnce(begun) : within(span, () => runOnce(begun, span));
  }

  async function runOnce({ poll, instance, ended }: Begun, span?: Span): Promise<void> {
    const startedMs = clock.now();
    const tally: RunTally = { events: 0, providerCalls: 0 };
    const noteEnd = (outcome: PollOutcome, errorType?: string) => {
      measures.ended(outcome, tally);
      span?.end(() => ({ attributes: describeRun(poll, instance, { outcome, ...tally }), errorType }));
    };
    const resultOf = (
      nextMs: number,
      how: Pick<RunResult, 'error' | 'isGivenBack' | 'hasWaited' | 'awaitsMapping'>,
    ): RunResult => ({
      ...poll,
      startedAt: new Date(startedMs),
      nextDue: new Date(nextMs),
      ...how,
      ...tally,
    });
    const giveBack = (nextMs: number, note?: () => void) => {
      note?.();
      noteEnd('lost');
      finish(resultOf(nextMs, GIVEN_BACK));
    };
    measures.started((startedMs - poll.due.getTime()) / 1000);
    const settings = instance && readSettings(instance.config, instance.connector);
    const resource = settings?.resources.find(({ name }) => name === poll.resource);
    if (instance === undefined || settings === undefined || resource === undefined) {
      return giveBack(startedMs + poll.intervalMs);
    }
    const { accountId, instanceId } = poll;
    const path = `/instances/${instanceId}/polls/${encodeURIComponent(poll.resource)}`;
    const isOverdue = poll.waits >= MOST_WAITS;
    const run = openRun({ kind: 'poll', accountId, userId: null, instanceId, path, isOverdue });
    run.attach(instance);
    const note = (fault?: RunFault) => run.end({ isReported: tally.events > 0, events: tally.events, fault });
    try {
      const early = await run.within(() =>
        runPoll(
          { store: runStore, resources, prepare, clock, options },
          { poll, instance, settings, resource, signal: ended },
          tally,
        ),
      );
      note();
      if (tally.hasLostToken === true)
        run.within(() => log.warn({ accountId, instanceId, resource: poll.resource }, LOST_TOKEN));
      const hasWaited = early?.isWait === true;
      const outcome = hasWaited ? 'waited' : 'empty';
      noteEnd(tally.events > 0 ? 'events' : outcome);
      const result = resultOf(nextRunMs(poll, startedMs, early), {
        error: undefined,
        isGivenBack: hasWaited,
        hasWaited,
        awaitsMapping: false,
      });
      const notices = [
        ...(hasWaited || poll.failingSince === null ? [] : [recoveredNotice(poll, instance)]),
        ...(tally.hasLostToken === true ? [restartedNotice(poll, instance)] : []),
      ];
      if (notices.length === 0) return finish(result);
      await finishAndNotify(instance, result, notices);
    } catch (error) {
      if (error instanceof PollLost || ended.aborted) return giveBack(startedMs, note);
      // It is this service that has no room.
      if (isAppError(error, 'OVERLOADED')) return giveBack(clock.now() + (error.retryAfterSeconds ?? 1) * 1000, note);
      noteEnd('failed', errorTypeOf(error));
      const fault = run.faultOf(error);
      const { code, message: reason } = fault;
      run.within(() =>
        log.warn({ err: error, reason, accountId, instanceId, resource: poll.resource }, 'a poll failed'),
      );
      note(fault);
      const words = `${code}: ${reason}`.slice(0, MOST_ERROR_CHARACTERS);
      const nextMs = clock.now() + backoffMs(poll, error);
      const awaitsMapping = error instanceof MappingMissing;
      const result = resultOf(nextMs, { error: words, isGivenBack: false, hasWaited: false, awaitsMapping });
      const failures = poll.failures + 1;
      const isNews = poll.failingSince === null && (awaitsMapping || failures >= FAILURES_NOTIFIED);
      if (isNews) await finishAndNotify(instance, result, [failingNotice(poll, instance, { ...fault, failures })]);
      else finish(result);
    }
  }

  /** Stores the outcome of a run together with its events and notifications, or nothing. Each change of state is reported once. */
  async function finishAndNotify(instance: Instance, result: RunResult, notices: readonly PollNotice[]): Promise<void> {
    const { accountId, instanceId, resource } = result;
    try {
      const { callbackUrl: notifiedUrl } = readEventSettings(instance.config);
      const publish = await prepareNotice(accountId, { notifiedUrl });
      const events = await prepare(
        notices.map(({ type, data }) => ({ accountId, instanceId, type, objectName: resource, object: data })),
      );
      const isStored = await store.transaction(async (via) => {
        if ((await store.finish([result], via)) === 0) return false;
        for (const { type, data } of notices) await publish(via, type, data);
        await events.insert(via);
        return true;
      });
      if (!isStored) return;
      events.committed();
      noteStops([result]);
    } catch (error) {
      log.warn({ err: error, accountId, instanceId, resource }, NOT_STORED);
    }
  }

  function noteStops(stored: readonly RunResult[]): void {
    for (const result of stored) if (result.awaitsMapping) noteStopped(result);
  }

  function nextRunMs({ intervalMs }: ClaimedPoll, startedMs: number, early: EarlyEnd | undefined): number {
    if (early !== undefined) return clock.now() + early.afterMs;
    return startedMs + intervalMs * (1 + JITTER * (2 * random.fraction() - 1));
  }

  /** Returns the wait that the provider requests; otherwise twice as long with each failure. */
  function backoffMs({ intervalMs, failures }: ClaimedPoll, error: unknown): number {
    const asked = isAppError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const longest = Math.max(intervalMs, options.longestBackoffMs);
    const doubled = Math.min(intervalMs * 2 ** Math.min(failures, 20), longest);
    return Math.max(asked, doubled * (1 + JITTER * random.fraction()));
  }

  function finish(result: RunResult): void {
    finished.push(result);
    storing ??= storeFinished().finally(() => {
      storing = undefined;
    });
  }

  async function storeFinished(): Promise<void> {
    while (finished.length > 0) {
      if (!signal.aborted) await sleep(clock, options.finishMs, signal).catch(() => undefined);
      const batch = finished.splice(0);
      try {
        await store.finish(batch);
        noteStops(batch);
      } catch (error) {
        log.warn({ err: error, polls: batch.length }, NOT_STORED);
      }
    }
  }

  return {
    start: () => {
      endRenewals = every(clock, options.leaseMs / RENEWALS, renew);
      looks.start();
    },
    /** Reads due pollers soon, because some may be due. */
    wake: looks.wake,
    /** Aborts the polls in progress of an account, and releases them. */
    breakOff: (accountId: number) => {
      for (const [poll, { end }] of running)
        if (poll.accountId === accountId) end.abort(new Error('The account is no longer active.'));
    },
    /** Starts no more polls, aborts those in progress, and releases them. */
    stop: async () => {
      stopping.abort(new Error('The service is stopping.'));
      for (const { end } of running.values()) end.abort(signal.reason);
      const looked = looks.end();
      await endRenewals?.();
      await looked;
      await Promise.allSettled([...running.values()].map(({ work }) => work));
      await storing;
    },
  };
}

/** The data with which a run begins. */
interface Begun {
  readonly poll: ClaimedPoll;
  readonly instance: Instance | undefined;
  readonly ended: AbortSignal;
}

function describeRun(
  { accountId, instanceId, resource }: ClaimedPoll,
  instance: Instance | undefined,
  { outcome, events, providerCalls }: RunTally & { readonly outcome: PollOutcome },
): SpanAttributes {
  return {
    'causeway.account.id': accountId,
    'causeway.instance.id': instanceId,
    'causeway.element': instance?.connector.key,
    'causeway.poll.resource': resource,
    'causeway.poll.outcome': outcome,
    'causeway.events': events,
    'causeway.provider.calls': providerCalls,
  };
}

interface PendingLookup extends Unit, SeenLookup {
  readonly settle: PromiseWithResolvers<readonly SeenVersion[]>;
}

/** Combines concurrent look-ups of several runs into one statement. Most runs find only seen records and have no other statement. */
function gatherSeen(store: Pick<PollStore, 'findSeen'>): RunPorts['store']['seen'] {
  const lookups = createGroupCommit<PendingLookup>({
    maxRows: MOST_LOOKED_UP,
    maxBytes: Number.POSITIVE_INFINITY,
    writesInFlight: 2,
    write: async (units) => {
      try {
        const found = await store.findSeen(units);
        for (const [index, { settle }] of units.entries()) settle.resolve(found[index] ?? []);
      } catch (error) {
        for (const { settle } of units) settle.reject(error);
      }
    },
  });
  return (key, recordKeys) => {
    const settle = Promise.withResolvers<readonly SeenVersion[]>();
    lookups.add({ accountId: key.accountId, rowCount: recordKeys.length, bytes: 0, key, recordKeys, settle });
    return settle.promise;
  };
}

function nameOf({ accountId, id }: { readonly accountId: number; readonly id: number }): string {
  return `${accountId}:${id}`;
}

/** Maximum number of characters of the error that a poller shows. */
const MOST_ERROR_CHARACTERS = 1_000;
const LOST_TOKEN =
  'the provider has forgotten the position in its feed of changes; the feed starts again from now, and deletions since the last poll may be missing';
const NOT_STORED = 'could not store the outcomes of polls; they run again when their leases expire';

/** A poller does not work any more, works again, or had to begin again. */
interface PollNotice {
  readonly type: 'poll.failing' | 'poll.recovered' | 'poll.restarted';
  readonly data: Readonly<Record<string, unknown>>;
}

function failingNotice(
  poll: ClaimedPoll,
  instance: Instance,
  { code, message, failures }: RunFault & { readonly failures: number },
): PollNotice {
  return { type: 'poll.failing', data: { ...noticeDataOf(poll, instance), failures, code, message } };
}

function recoveredNotice(poll: ClaimedPoll, instance: Instance): PollNotice {
  const { failures, failingSince } = poll;
  const data = { ...noticeDataOf(poll, instance), failures, failingSince: failingSince?.toISOString() };
  return { type: 'poll.recovered', data };
}

function restartedNotice(poll: ClaimedPoll, instance: Instance): PollNotice {
  const { failures, lastSuccessAt } = poll;
  const missingSince = lastSuccessAt === null ? {} : { missingSince: lastSuccessAt.toISOString() };
  return { type: 'poll.restarted', data: { ...noticeDataOf(poll, instance), failures, ...missingSince } };
}

function noticeDataOf({ instanceId, resource }: ClaimedPoll, { name, connector }: Instance) {
  return { instanceId, name, elementKey: connector.key, resource };
}
