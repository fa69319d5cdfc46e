import type { DeliveryOutcome } from '../outcomes/outcome-queue.ts';
import type { Fence } from '../outcomes/outcome-store.ts';

/** What a look at the database is for. */
export interface Look {
  /** Everything that is due; otherwise only the ordered subscriptions. */
  readonly all: boolean;
  readonly orderedIds: readonly number[];
}

export type ParkedLane = Pick<Fence, 'accountId' | 'subscriptionId'>;

/** When to look at the database for deliveries, and what to ask it there. Times are milliseconds since 1970. */
export interface Agenda {
  /** Something may be due, or there is room for it. */
  readonly want: () => void;
  /** The same of one ordered subscription. */
  readonly wantOrdered: (subscriptionId: number) => void;
  /** A delivery becomes due then. */
  readonly noteDue: (atMs: number) => void;
  /** First attempts are tried again then, which may be due by that time. */
  readonly notePause: (untilMs: number) => void;
  /** What is stored is what comes next. */
  readonly noteStored: (outcome: DeliveryOutcome) => void;
  /** Receivers of parked first attempts answer again. */
  readonly callBack: (lanes: readonly ParkedLane[]) => void;
  /** The look to take now; undefined: none yet. It is taken off the agenda. */
  readonly take: (nowMs: number) => Look | undefined;
  /** Those to call back; none: an empty list. They are taken off the agenda. */
  readonly takeParked: () => readonly ParkedLane[];
  /** When the next look is to be taken, as far as is known; in the past: now. */
  readonly nextAtMs: () => number;
}

const NOW = Number.NEGATIVE_INFINITY;
const NEVER = Number.POSITIVE_INFINITY;

export function createAgenda(): Agenda {
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
    want: () => noteDue(NOW),
    wantOrdered: (subscriptionId) => void ordered.add(subscriptionId),
    noteDue,

    notePause: (untilMs) => {
      pauses.push(untilMs);
      noteDue(untilMs);
    },

    noteStored: (outcome) => {
      const { lease } = outcome;
      if (lease.ordered) ordered.add(lease.subscriptionId);
      else if (outcome.kind === 'failed') noteDue(outcome.next.dueAt?.getTime() ?? NEVER);
      else if (outcome.kind === 'released') noteDue(outcome.dueAt.getTime());
    },

    callBack: (lanes) => {
      for (const { accountId, subscriptionId } of lanes) parked.set(subscriptionId, { accountId, subscriptionId });
    },

    take: (nowMs) => {
      const all = lookAtMs <= nowMs;
      if (!all && ordered.size === 0) return undefined;
      if (all) {
        pauses = pauses.filter((untilMs) => untilMs > nowMs);
        lookAtMs = pauses.reduce((soonest, untilMs) => Math.min(soonest, untilMs), NEVER);
      }
      return { all, orderedIds: takeOrdered() };
    },

    takeParked: () => {
      if (parked.size === 0) return [];
      const lanes = [...parked.values()];
      parked.clear();
      return lanes;
    },

    nextAtMs: () => (ordered.size > 0 ? NOW : lookAtMs),
  };
}
