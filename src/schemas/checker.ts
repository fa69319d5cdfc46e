import type { OpenRun } from '../activity/runs.ts';
import { isAppError } from '../errors.ts';
import { createPool } from '../events/fairness.ts';
import { createDueLooks, every } from '../events/timers.ts';
import type { Instance, InstanceKey } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import { type CheckEnd, type CheckPorts, type CheckTally, checkInstance } from './check.ts';
import type { CheckOutcome, SchemaMetrics } from './schema-metrics.ts';
import type { CheckResult, ClaimedCheck } from './watch-store.ts';

export interface CheckerOptions {
  /** Maximum number of checks that this process runs at a time. One account gets a share of it. */
  readonly concurrency: number;
  /** Maximum milliseconds between two queries for due checks. */
  readonly lookMs: number;
  /** Minimum milliseconds between two queries, so that one claims several. */
  readonly gatherMs: number;
  /** Milliseconds without a renewal after which other processes may take over the checks of this process. */
  readonly leaseMs: number;
  /** Milliseconds until a difference is read again that may come from an incomplete response. */
  readonly confirmMs: number;
  /** Milliseconds until a failed check runs again. It doubles with each failure, up to the usual time. */
  readonly retryMs: number;
  /** Milliseconds between two checks of an instance. Default: from the configuration. */
  readonly intervalMs?: number;
}

const MINUTE_MS = 60_000;

export const CHECKER_OPTIONS: CheckerOptions = {
  concurrency: 8,
  lookMs: 5_000,
  gatherMs: 500,
  leaseMs: 60_000,
  confirmMs: 10 * MINUTE_MS,
  retryMs: 15 * MINUTE_MS,
};

export interface CheckerPorts extends Omit<CheckPorts, 'options'> {
  readonly getInstances: (keys: readonly InstanceKey[]) => Promise<readonly Instance[]>;
  readonly openRun: OpenRun;
  /** Called after a change was stored, because caches hold the earlier description. */
  readonly noteChanged: (instance: InstanceKey) => Promise<void>;
  readonly measures: SchemaMetrics;
  readonly options: CheckerOptions & { readonly intervalMs: number };
}

export type Checker = ReturnType<typeof createChecker>;

/** Number of times that a lease is renewed within its duration. */
const RENEWALS = 3;
/** The share of the interval by which chance moves the next check. */
const JITTER = 0.05;
/** Maximum number of consecutive checks that leave the rate limit to callers. */
const MOST_WAITS = 3;
/** Maximum number of characters of a stored error. */
const MOST_ERROR_CHARACTERS = 1_000;

/** Creates the checker, which reads the watched objects of instances when they are due. Each instance is checked in one process at a time. */
export function createChecker(
  { clock, log, random, buckets }: Pick<Platform, 'clock' | 'log' | 'random' | 'buckets'>,
  { getInstances, openRun, noteChanged, measures, options, ...ports }: CheckerPorts,
) {
  const { store } = ports;
  const { intervalMs } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const slots = createPool(options.concurrency);
  const running = new Map<ClaimedCheck, Promise<void>>();
  const looks = createDueLooks({
    clock,
    signal,
    options,
    nextDue: (now) => store.nextDue(now, buckets.held()),
    takeDue: async (noteQuery) => {
      noteQuery();
      return (await claim()) > 0;
    },
    noteFailure: (error) => log.warn({ err: error }, 'could not look for due checks of watched objects; trying again'),
  });
  const checkPorts: CheckPorts = {
    ...ports,
    clock,
    options: { confirmMs: options.confirmMs, mostWaits: MOST_WAITS, resumeMs: intervalMs / 2 },
  };
  let endRenewals: (() => Promise<void>) | undefined;

  /** @returns the number of checks that were claimed or put off */
  async function claim(): Promise<number> {
    const claimable = slots.claimable();
    const held = buckets.held();
    if (claimable.limit <= 0 || held.length === 0) return 0;
    const nowMs = clock.now();
    const { claimed, putOff } = await store.claim({
      buckets: held,
      now: new Date(nowMs),
      leaseUntil: new Date(nowMs + options.leaseMs),
      later: new Date(nowMs + usualMs()),
      ...claimable,
    });
    if (claimed.length > 0) await begin(claimed);
    return claimed.length + putOff;
  }

  async function begin(claimed: readonly ClaimedCheck[]): Promise<void> {
    let instances: ReadonlyMap<string, Instance>;
    try {
      const found = await getInstances(claimed.map(({ accountId, instanceId }) => ({ accountId, id: instanceId })));
      instances = new Map(found.map((instance) => [nameOf(instance), instance]));
    } catch (error) {
      for (const check of claimed) await finish(giveBack(check, clock.now() + options.lookMs));
      throw error;
    }
    for (const check of claimed) {
      slots.take(check.accountId);
      const work = run(check, instances.get(nameOf({ accountId: check.accountId, id: check.instanceId })));
      running.set(check, work);
      void work.finally(() => {
        running.delete(check);
        slots.give(check.accountId);
        looks.wake();
      });
    }
  }

  async function run(check: ClaimedCheck, instance: Instance | undefined): Promise<void> {
    const startedMs = clock.now();
    // Without its secrets, an instance cannot be read.
    if (instance === undefined || instance.fault !== undefined) return finish(giveBack(check, startedMs + usualMs()));
    const { accountId, instanceId } = check;
    const tally: CheckTally = { providerCalls: 0, changes: 0 };
    const activity = openRun({
      kind: 'schema',
      accountId,
      userId: null,
      instanceId,
      path: `/instances/${instanceId}/watches`,
      isOverdue: check.waits >= MOST_WAITS,
    });
    activity.attach(instance);
    const wordsOf = (error: unknown) => {
      const { code, message } = activity.faultOf(error);
      return `${code}: ${message}`.slice(0, MOST_ERROR_CHARACTERS);
    };
    const noteEnd = (outcome: CheckOutcome) => measures.ended(outcome, tally);
    // The memory of the provider's responses is counted until the end of the check.
    const end = new AbortController();
    try {
      const input = { check, instance, signal: AbortSignal.any([signal, end.signal]), wordsOf };
      const done = await activity.within(() => checkInstance(checkPorts, input, tally));
      activity.end({ isReported: tally.changes > 0 });
      noteEnd(done.isWait ? 'waited' : tally.changes > 0 ? 'changed' : 'same');
      await finish(resultOf(check, startedMs, done));
    } catch (error) {
      if (signal.aborted) {
        activity.end({ isReported: false });
        noteEnd('lost');
        return finish(giveBack(check, startedMs));
      }
      // It is this service that has no room, or the rest of the rate limit is for callers.
      if (isAppError(error, 'OVERLOADED')) {
        activity.end({ isReported: false });
        noteEnd('waited');
        const afterMs = (error.retryAfterSeconds ?? 1) * 1000;
        return finish(resultOf(check, startedMs, { afterMs, isWait: true }));
      }
      activity.within(() => log.warn({ err: error, accountId, instanceId }, 'a check of watched objects failed'));
      activity.end({ isReported: true, fault: activity.faultOf(error) });
      noteEnd('failed');
      await finish({
        ...check,
        startedAt: new Date(startedMs),
        nextDue: new Date(clock.now() + backoffMs(check, error)),
        isGivenBack: false,
        hasWaited: false,
        isPartial: true,
        error: wordsOf(error),
      });
    } finally {
      end.abort();
      if (tally.changes > 0) await noteChanged({ accountId, id: instanceId }).catch(warnOfCaches);
    }
  }

  function warnOfCaches(error: unknown): void {
    log.warn({ err: error }, 'could not announce changed objects; other processes show them within ten minutes');
  }

  function resultOf(check: ClaimedCheck, startedMs: number, { afterMs, isWait }: CheckEnd): CheckResult {
    // The first checks of instances that were created together spread over the whole time.
    const isFirst = check.lastSuccessAt === null;
    const nextMs =
      afterMs === undefined
        ? startedMs + (isFirst ? intervalMs * random.fraction() : usualMs())
        : clock.now() + afterMs;
    return {
      ...check,
      startedAt: new Date(startedMs),
      nextDue: new Date(Math.round(nextMs)),
      isGivenBack: isWait,
      hasWaited: isWait,
      isPartial: afterMs !== undefined,
      error: undefined,
    };
  }

  function giveBack(check: ClaimedCheck, nextMs: number): CheckResult {
    return {
      ...check,
      startedAt: new Date(clock.now()),
      nextDue: new Date(Math.round(nextMs)),
      isGivenBack: true,
      hasWaited: false,
      error: undefined,
    };
  }

  function usualMs(): number {
    return Math.round(intervalMs * (1 + JITTER * (2 * random.fraction() - 1)));
  }

  /** Returns the wait that the provider requests; otherwise twice as long with each failure. */
  function backoffMs({ failures }: ClaimedCheck, error: unknown): number {
    const asked = isAppError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const doubled = Math.min(options.retryMs * 2 ** Math.min(failures, 20), intervalMs);
    return Math.round(Math.max(asked, doubled * (1 + JITTER * random.fraction())));
  }

  async function finish(result: CheckResult): Promise<void> {
    try {
      await store.finish(result);
    } catch (error) {
      const { accountId, instanceId } = result;
      log.warn(
        { err: error, accountId, instanceId },
        'could not store the outcome of a check of watched objects; it runs again when its lease expires',
      );
    }
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return;
    try {
      await store.renew([...running.keys()], new Date(clock.now() + options.leaseMs));
    } catch (error) {
      log.warn({ err: error }, 'could not renew the leases of checks; other processes may take them over');
    }
  }

  return {
    start: () => {
      endRenewals = every(clock, options.leaseMs / RENEWALS, renew);
      looks.start();
    },
    wake: looks.wake,
    /** Starts no more checks, aborts those in progress, and releases them. */
    stop: async () => {
      stopping.abort(new Error('The service is stopping.'));
      const looked = looks.end();
      await endRenewals?.();
      await looked;
      await Promise.allSettled(running.values());
    },
  };
}

function nameOf({ accountId, id }: InstanceKey): string {
  return `${accountId}:${id}`;
}
