import { BUCKETS, type Buckets, bucketOf } from '../../work-buckets.ts';
import type { DeliveryOutcome } from '../outcomes/outcome-queue.ts';
import type { Fence } from '../outcomes/outcome-store.ts';

/** Deliveries to look for in one read of the database. */
export interface Look {
  /** Whether to look for all due deliveries. If false, only for those of the ordered subscriptions. */
  readonly all: boolean;
  readonly orderedIds: readonly number[];
}

export type ParkedLane = Pick<Fence, 'accountId' | 'subscriptionId'>;

/**
 * Times of the next looks at the database for deliveries, and the deliveries to look for. Times are milliseconds
 * since 1970.
 */
export type Agenda = ReturnType<typeof createAgenda>;

const NOW = Number.NEGATIVE_INFINITY;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * Creates the agenda of a process that looks in these buckets. What becomes due in others is news for other processes.
 */
export function createAgenda(buckets: Pick<Buckets, 'has'>) {
  let lookAtMs = NEVER;
  const elsewhere = new Map<number, number>();
  let pauses: number[] = [];
  const ordered = new Set<number>();
  const parked = new Map<number, ParkedLane>();

  function noteDue(atMs: number): void {
    lookAtMs = Math.min(lookAtMs, atMs);
  }

  function noteDueOf(subscriptionId: number, atMs: number): void {
    const bucket = bucketOf(subscriptionId);
    if (buckets.has(subscriptionId)) noteDue(atMs);
    else if (atMs !== NEVER) elsewhere.set(bucket, Math.min(atMs, elsewhere.get(bucket) ?? NEVER));
  }

  function wantOrdered(subscriptionId: number): void {
    if (buckets.has(subscriptionId)) ordered.add(subscriptionId);
    else noteDueOf(subscriptionId, NOW);
  }

  function takeOrdered(): readonly number[] {
    if (ordered.size === 0) return [];
    const ids = [...ordered];
    ordered.clear();
    return ids;
  }

  return {
    /** Returns whether this process looks for deliveries of a subscription. */
    isOurs: buckets.has,
    /** Notes that deliveries may be due, or that there is room for them. */
    want: () => noteDue(NOW),
    /** Notes that deliveries of any subscription may be due. */
    wantAll: () => {
      noteDue(NOW);
      for (let bucket = 0; bucket < BUCKETS; bucket++) noteDueOf(bucket, NOW);
    },
    /** Notes that deliveries of a subscription are due. */
    wantOf: (subscriptionId: number) => noteDueOf(subscriptionId, NOW),
    /** Notes that one ordered subscription has room. */
    wantOrdered,
    /** Notes the time at which a delivery becomes due. */
    noteDue,

    /** Notes the time at which parked first attempts are tried again. They may be due by then. */
    notePause: (untilMs: number) => {
      pauses.push(untilMs);
      noteDue(untilMs);
    },

    /** Notes that an outcome is stored, so that the next delivery can be loaded. */
    noteStored: (outcome: DeliveryOutcome) => {
      const { lease } = outcome;
      if (lease.ordered) wantOrdered(lease.subscriptionId);
      else if (outcome.kind === 'failed') noteDueOf(lease.subscriptionId, outcome.next.dueAt?.getTime() ?? NEVER);
      else if (outcome.kind === 'released') noteDueOf(lease.subscriptionId, outcome.dueAt.getTime());
    },

    /** Notes receivers that respond again and whose first attempts were parked. */
    callBack: (lanes: readonly ParkedLane[]) => {
      for (const { accountId, subscriptionId } of lanes) parked.set(subscriptionId, { accountId, subscriptionId });
    },

    /** Returns the next read and removes it from the agenda. Undefined if none is due. */
    take: (nowMs: number) => {
      const all = lookAtMs <= nowMs;
      if (!all && ordered.size === 0) return undefined;
      if (all) {
        pauses = pauses.filter((untilMs) => untilMs > nowMs);
        lookAtMs = pauses.reduce((soonest, untilMs) => Math.min(soonest, untilMs), NEVER);
      }
      return { all, orderedIds: takeOrdered() };
    },

    /** Returns all lanes whose receivers respond again, and removes them from the agenda. */
    takeParked: () => {
      if (parked.size === 0) return [];
      const lanes = [...parked.values()];
      parked.clear();
      return lanes;
    },

    /** Returns whether deliveries of buckets of other processes become due. */
    hasNews: () => elsewhere.size > 0,

    /** Returns the buckets of other processes with the time at which a delivery becomes due, and removes them from the agenda. */
    takeNews: (): ReadonlyMap<number, number> => {
      const news = new Map(elsewhere);
      elsewhere.clear();
      return news;
    },

    /** Returns the time of the next sweep, as far as known. A time in the past means now. */
    nextAtMs: () => (ordered.size > 0 ? NOW : lookAtMs),
  };
}
