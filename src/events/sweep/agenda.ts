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

export function createAgenda() {
  let lookAtMs = NEVER;
  let pauses: number[] = [];
  const ordered = new Set<number>();
  const parked = new Map<number, ParkedLane>();

  function noteDue(atMs: number): void {
    lookAtMs = Math.min(lookAtMs, atMs);
  }

  function takeOrdered(): readonly number[] {
    if (ordered.size === 0) return [];
    const ids = [...ordered];
    ordered.clear();
    return ids;
  }

  return {
    /** Notes that deliveries may be due, or that there is room for them. */
    want: () => noteDue(NOW),
    /** Notes that one ordered subscription has room. */
    wantOrdered: (subscriptionId: number) => void ordered.add(subscriptionId),
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
      if (lease.ordered) ordered.add(lease.subscriptionId);
      else if (outcome.kind === 'failed') noteDue(outcome.next.dueAt?.getTime() ?? NEVER);
      else if (outcome.kind === 'released') noteDue(outcome.dueAt.getTime());
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

    /** Returns the time of the next sweep, as far as known. A time in the past means now. */
    nextAtMs: () => (ordered.size > 0 ? NOW : lookAtMs),
  };
}
