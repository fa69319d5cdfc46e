import { isUniqueViolation } from '../../db/unique-violation.ts';
import type { EngineOptions } from '../options.ts';
import type { Budget } from './budget.ts';
import type { ClaimedRow, ClaimStore, OrderedHead } from './claim-store.ts';

export interface OrderedSweepPorts {
  readonly store: Pick<ClaimStore, 'orderedHeads' | 'claimHeads'>;
  readonly now: () => number;
  readonly budgetOf: () => Budget;
  readonly takeIn: (rows: readonly ClaimedRow[], owner: string) => Promise<void>;
  readonly options: Pick<EngineOptions, 'visits'>;
}

/** Ordered subscriptions: only the oldest delivery of each goes out, and one that waits holds up those behind it. */
export interface OrderedSweep {
  readonly want: (subscriptionId: number) => void;
  readonly isWanted: () => boolean;
  /** Only those wanted. */
  readonly sweepWanted: (owner: string) => Promise<void>;
  readonly sweepAll: (owner: string) => Promise<void>;
  /** When the next head becomes due, of those that were looked at; Infinity: none will. */
  readonly nextDueMs: () => number;
}

export function createOrderedSweep({ store, now, budgetOf, takeIn, options }: OrderedSweepPorts): OrderedSweep {
  const wanted = new Set<number>();
  /** When the heads are due that were not when they were looked at. */
  const heldUp = new Map<number, number>();

  async function claim(heads: readonly OrderedHead[], owner: string): Promise<void> {
    const nowMs = now();
    const waiting = heads.filter(({ state }) => state === 'waiting');
    for (const head of waiting) if (dueAt(head) > nowMs) heldUp.set(head.subscriptionId, dueAt(head));
    const budget = budgetOf();
    const due = waiting.filter((head) => dueAt(head) <= nowMs && budget.take(head.accountId, 1) > 0);
    if (due.length === 0) return;
    await takeIn(await claimHeads(due, { owner, now: new Date(nowMs) }), owner);
  }

  /** Another process may have claimed one of the same subscription in the same instant: then the database refuses, and the next look is right. */
  async function claimHeads(
    heads: readonly OrderedHead[],
    input: { readonly owner: string; readonly now: Date },
  ): Promise<readonly ClaimedRow[]> {
    try {
      return await store.claimHeads(heads, input);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      for (const { subscriptionId } of heads) wanted.add(subscriptionId);
      return [];
    }
  }

  return {
    want: (subscriptionId) => void wanted.add(subscriptionId),
    isWanted: () => wanted.size > 0,

    sweepWanted: async (owner) => {
      const ids = [...wanted];
      wanted.clear();
      for (const id of ids) heldUp.delete(id);
      const heads = await Promise.all(ids.map((id) => store.orderedHeads(id - 1, 1)));
      await claim(heads.flat(), owner);
    },

    sweepAll: async (owner) => {
      heldUp.clear();
      let afterId = 0;
      let visited = options.visits;
      while (visited === options.visits) {
        const heads = await store.orderedHeads(afterId, options.visits);
        visited = heads.length;
        afterId = heads.at(-1)?.subscriptionId ?? afterId;
        await claim(heads, owner);
      }
    },

    nextDueMs: () => Math.min(...heldUp.values()),
  };
}

function dueAt({ due }: OrderedHead): number {
  return due?.getTime() ?? Number.POSITIVE_INFINITY;
}
