import { sleep } from '../clock.ts';
import { isAppError } from '../errors.ts';
import { createPool } from '../events/fairness.ts';
import { createAlarm } from '../events/timers.ts';
import type { Instance } from '../instances/instance.ts';
import { readPollSettings } from '../instances/polling/poll-settings.ts';
import type { Platform } from '../platform.ts';
import type { PollMetrics } from './poll-metrics.ts';
import type { ClaimedPoll, PollStore, RunResult } from './poll-store.ts';
import { type EarlyEnd, PollLost, type RunOptions, type RunPorts, type RunTally, runPoll } from './run.ts';

export interface PollerOptions extends RunOptions {
  /** Pollers of this process that run at a time. Of this one account has a share, see `createPool`: half of it when it is alone. */
  readonly concurrency: number;
  /** The database is asked at least so often whether a poller is due. */
  readonly lookMs: number;
  /** Results wait so long for others, to be stored together. */
  readonly finishMs: number;
  /** A failing poller waits longer with each failure, at most so long unless its interval is longer. */
  readonly longestBackoffMs: number;
}

export const POLLER_OPTIONS: PollerOptions = {
  concurrency: 64,
  lookMs: 1_000,
  finishMs: 20,
  leaseMs: 300_000,
  longestBackoffMs: 3_600_000,
  mostPages: 500,
  mostPasses: 4,
};

export interface PollerPorts extends Pick<RunPorts, 'resources' | 'prepare'> {
  readonly store: PollStore;
  readonly getInstances: (
    keys: readonly { readonly accountId: number; readonly id: number }[],
  ) => Promise<readonly Instance[]>;
  readonly measures: PollMetrics;
  readonly options: PollerOptions;
}

export interface Poller {
  readonly start: () => void;
  /** Takes no more, breaks off what is under way, and gives it back. */
  readonly stop: () => Promise<void>;
  /** Something may be due. */
  readonly wake: () => void;
}

interface RunEnd extends Pick<RunResult, 'outcome' | 'error'> {
  readonly nextMs: number;
}

const NOTHING: Readonly<RunTally> = { events: 0, providerCalls: 0 };

/** Of the interval: so far the next run is moved by chance, so that pollers that began together drift apart. */
const JITTER = 0.05;

/** Runs the pollers that are due, those of all processes together one at a time each. */
export function createPoller(
  { clock, log, random }: Pick<Platform, 'clock' | 'log' | 'random'>,
  { store, resources, prepare, getInstances, measures, options }: PollerPorts,
): Poller {
  const stopping = new AbortController();
  const { signal } = stopping;
  const places = createPool(options.concurrency);
  const running = new Map<ClaimedPoll, Promise<void>>();
  const finished: RunResult[] = [];
  let storing: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  /** Something may be due that the look under way does not see. */
  let isWanted = false;
  const alarm = createAlarm(clock, look);

  function look(): void {
    isWanted = true;
    if (looking !== undefined || signal.aborted) return;
    looking = lookOften().finally(() => {
      looking = undefined;
    });
  }

  async function lookOften(): Promise<void> {
    while (isWanted && !signal.aborted) {
      isWanted = false;
      try {
        const found = await claim();
        if (found > 0 && places.free() > 0) isWanted = true;
        else await planNext();
      } catch (error) {
        log.warn({ err: error }, 'could not look for due polls; trying again');
        alarm.ringIn(options.lookMs);
      }
    }
  }

  async function planNext(): Promise<void> {
    const nowMs = clock.now();
    const due = places.free() > 0 ? await store.nextDue(new Date(nowMs)) : undefined;
    const inMs = due === undefined ? options.lookMs : due.getTime() - nowMs;
    // Those of accounts that have enough under way are due already, and wait.
    alarm.ringIn(Math.min(inMs <= 0 ? options.lookMs : inMs, options.lookMs));
  }

  /** @returns how many */
  async function claim(): Promise<number> {
    const limit = places.free();
    if (limit <= 0) return 0;
    const nowMs = clock.now();
    const busy = [...new Set([...running.keys()].map(({ accountId }) => accountId))];
    const claimed = await store.claim({
      now: new Date(nowMs),
      leaseUntil: new Date(nowMs + options.leaseMs),
      limit,
      // What an account gets that has nothing under way.
      share: Math.max(1, places.room(-1)),
      except: busy.filter((accountId) => places.room(accountId) <= 0),
    });
    if (claimed.length === 0) return 0;
    const instances = await instancesOf(claimed);
    for (const poll of claimed) {
      places.take(poll.accountId);
      const work = run(poll, instances.get(nameOf({ accountId: poll.accountId, id: poll.instanceId })));
      running.set(poll, work);
      void work.finally(() => {
        running.delete(poll);
        places.give(poll.accountId);
        look();
      });
    }
    return claimed.length;
  }

  /** Those of the pollers. What it cannot get it gives back, as nobody else would have it before the lease ends. */
  async function instancesOf(claimed: readonly ClaimedPoll[]): Promise<ReadonlyMap<string, Instance>> {
    try {
      const found = await getInstances(claimed.map(({ accountId, instanceId }) => ({ accountId, id: instanceId })));
      return new Map(found.map((instance) => [nameOf(instance), instance]));
    } catch (error) {
      const [startedAt, nextDue] = [new Date(clock.now()), new Date(clock.now() + options.lookMs)];
      for (const poll of claimed) finish({ ...poll, startedAt, nextDue, outcome: 'lost', ...NOTHING });
      throw error;
    }
  }

  async function run(poll: ClaimedPoll, instance: Instance | undefined): Promise<void> {
    const startedMs = clock.now();
    const tally: RunTally = { ...NOTHING };
    measures.started((startedMs - poll.due.getTime()) / 1000);
    const { nextMs, ...end } = await runToEnd(poll, instance, startedMs, tally);
    const found = tally.events > 0 ? 'events' : 'empty';
    measures.ended(end.outcome === 'done' ? found : end.outcome, tally);
    finish({ ...poll, startedAt: new Date(startedMs), nextDue: new Date(nextMs), ...end, ...tally });
  }

  async function runToEnd(
    poll: ClaimedPoll,
    instance: Instance | undefined,
    startedMs: number,
    tally: RunTally,
  ): Promise<RunEnd> {
    const settings = instance && readPollSettings(instance.config, instance.connector.polls);
    const resource = settings?.resources.find(({ name }) => name === poll.resource);
    if (instance === undefined || settings === undefined || resource === undefined) {
      return { outcome: 'lost', nextMs: startedMs + poll.intervalMs };
    }
    try {
      const ports = { store, resources, prepare, clock, options };
      const early = await runPoll(ports, { poll, instance, settings, resource, signal }, tally);
      return { outcome: 'done', nextMs: nextRunMs(poll, startedMs, early) };
    } catch (error) {
      return endOf(poll, startedMs, error);
    }
  }

  function endOf(poll: ClaimedPoll, startedMs: number, error: unknown): RunEnd {
    if (error instanceof PollLost || signal.aborted) return { outcome: 'lost', nextMs: startedMs };
    // It is this service that has no room.
    if (isAppError(error, 'OVERLOADED')) {
      return { outcome: 'lost', nextMs: clock.now() + (error.retryAfterSeconds ?? 1) * 1000 };
    }
    const { accountId, instanceId, resource } = poll;
    log.warn({ err: error, accountId, instanceId, resource }, 'a poll failed');
    return { outcome: 'failed', nextMs: clock.now() + backoffMs(poll, error), error: describe(error) };
  }

  function nextRunMs({ intervalMs }: ClaimedPoll, startedMs: number, early: EarlyEnd | undefined): number {
    if (early !== undefined) return clock.now() + early.afterMs;
    return startedMs + intervalMs * (1 + JITTER * (2 * random.fraction() - 1));
  }

  /** As long as the provider asks for; otherwise twice as long with each failure. */
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
      } catch (error) {
        log.warn(
          { err: error, polls: batch.length },
          'could not store what came of polls; they run again when their lease ends',
        );
      }
    }
  }

  return {
    start: look,
    wake: look,
    stop: async () => {
      stopping.abort(new Error('The service is stopping.'));
      alarm.end();
      await looking;
      await Promise.allSettled(running.values());
      await storing;
    },
  };
}

function nameOf({ accountId, id }: { readonly accountId: number; readonly id: number }): string {
  return `${accountId}:${id}`;
}

/** For whoever looks at the pollers of an instance: in the words of the API. */
function describe(error: unknown): string {
  return isAppError(error) ? `${error.code}: ${error.message}`.slice(0, 1000) : 'INTERNAL: The poll could not be made.';
}
