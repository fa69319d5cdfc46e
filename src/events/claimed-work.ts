import type { Clock } from '../clock.ts';
import type { WorkBuckets } from '../work-buckets.ts';
import { createPool } from './fairness.ts';
import { createDueLooks } from './timers.ts';

/** Which due work a process claims. */
export interface ClaimRequest {
  /** The parts of the due work in which the process looks. */
  readonly buckets: readonly number[];
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly limit: number;
  /** Maximum number for one account. */
  readonly share: number;
  /** Accounts that have enough under way. */
  readonly except: readonly number[];
}

export interface ClaimedWorkOptions {
  /** Maximum number of pieces of work at the same time. One account gets a share of it, half if it is alone; see `createPool`. */
  readonly concurrency: number;
  /** Maximum time in milliseconds between two looks into the database for due work. */
  readonly lookMs: number;
  /** Milliseconds without a renewal after which other processes may take over work of this process. */
  readonly leaseMs: number;
}

interface ClaimedWorkPorts<Claimed> {
  readonly clock: Clock;
  readonly buckets: Pick<WorkBuckets, 'held'>;
  /** Aborts when no more work may begin. */
  readonly signal: AbortSignal;
  readonly options: ClaimedWorkOptions;
  readonly store: {
    readonly claim: (request: ClaimRequest) => Promise<readonly Claimed[]>;
    /** Returns when the next work in the buckets is due that nobody has. `claimed` is the time of the last claim. */
    readonly nextDue: (claimed: Date, buckets: readonly number[]) => Promise<Date | undefined>;
  };
  /** Does a piece of work. Must not reject. */
  readonly work: (claimed: Claimed) => Promise<void>;
  /** Called when a look fails. The next one comes after `lookMs`. */
  readonly noteFailure: (error: unknown) => void;
}

/** Claims due work for as many slots as are free, and looks again when one becomes free. */
export function createClaimedWork<Claimed extends { readonly accountId: number }>({
  clock,
  buckets,
  signal,
  options: { concurrency, lookMs, leaseMs },
  store,
  work,
  noteFailure,
}: ClaimedWorkPorts<Claimed>) {
  const slots = createPool(concurrency);
  const running = new Set<Promise<void>>();
  const looks = createDueLooks({
    clock,
    signal,
    options: { gatherMs: 0, lookMs },
    // A slot becomes free first, and then it looks again.
    nextDue: async (claimed) => (slots.free() <= 0 ? undefined : store.nextDue(claimed, buckets.held())),
    takeDue: async (noteQuery) => {
      noteQuery();
      return (await claim()) > 0 && slots.free() > 0;
    },
    noteFailure,
  });

  /**
   * Claims due work and begins it.
   * @returns the number of pieces
   */
  async function claim(): Promise<number> {
    const nowMs = clock.now();
    const held = buckets.held();
    const claimable = slots.claimable();
    if (claimable.limit <= 0 || held.length === 0) return 0;
    const leaseUntil = new Date(nowMs + leaseMs);
    const claimed = await store.claim({ buckets: held, now: new Date(nowMs), leaseUntil, ...claimable });
    for (const one of claimed) begin(one);
    return claimed.length;
  }

  function begin(claimed: Claimed): void {
    slots.take(claimed.accountId);
    const done = work(claimed).finally(() => {
      running.delete(done);
      slots.give(claimed.accountId);
      looks.look();
    });
    running.add(done);
  }

  return {
    start: looks.start,
    /** Looks now, or soon if a look is in progress. */
    look: looks.look,
    /** Looks after this time at the latest. */
    lookIn: looks.lookIn,
    /** Looks no more. Resolves when no look is in progress. Call it after the abort of the signal. */
    endLooks: looks.end,
    /** Resolves when the work that has begun is done. */
    done: async (): Promise<void> => {
      await Promise.all(running);
    },
  };
}
