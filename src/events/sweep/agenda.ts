import type { DeliveryOutcome } from '../outcomes/outcome-queue.ts';
import type { Fence } from '../outcomes/outcome-store.ts';

/** Deliveries that one look at the database is for. */
export interface Look {
  /** Everything that is due; otherwise only the ordered subscriptions. */
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
    /** Something may be due, or there is room for it. */
    want: () => noteDue(NOW),
    /** The same of one ordered subscription. */
    wantOrdered: (subscriptionId: number) => void ordered.add(subscriptionId),
    /** A delivery becomes due then. */
    noteDue,

    /** First attempts are tried again then, which may be due by that time. */
    notePause: (untilMs: number) => {
      pauses.push(untilMs);
      noteDue(untilMs);
    },

    /** What is stored is what comes next. */
    noteStored: (outcome: DeliveryOutcome) => {
      const { lease } = outcome;
      if (lease.ordered) ordered.add(lease.subscriptionId);
      else if (outcome.kind === 'failed') noteDue(outcome.next.dueAt?.getTime() ?? NEVER);
      else if (outcome.kind === 'released') noteDue(outcome.dueAt.getTime());
    },

    /** Receivers of parked first attempts answer again. */
    callBack: (lanes: readonly ParkedLane[]) => {
      for (const { accountId, subscriptionId } of lanes) parked.set(subscriptionId, { accountId, subscriptionId });
    },

    /** The look to take now; undefined: none yet. It is taken off the agenda. */
    take: (nowMs: number) => {
      const all = lookAtMs <= nowMs;
      if (!all && ordered.size === 0) return undefined;
      if (all) {
        pauses = pauses.filter((untilMs) => untilMs > nowMs);
        lookAtMs = pauses.reduce((soonest, untilMs) => Math.min(soonest, untilMs), NEVER);
      }
      return { all, orderedIds: takeOrdered() };
    },

    /** Those to call back; none: an empty list. They are taken off the agenda. */
    takeParked: () => {
      if (parked.size === 0) return [];
      const lanes = [...parked.values()];
      parked.clear();
      return lanes;
    },

    /** When the next look is to be taken, as far as is known; in the past: now. */
    nextAtMs: () => (ordered.size > 0 ? NOW : lookAtMs),
  };
}
