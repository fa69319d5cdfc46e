import type { DeliveryLease } from '../lease.ts';
import type { EngineOptions } from '../options.ts';
import type { AttemptOutcome, NextRow } from './outcome-store.ts';

/** Outcome to store for a lease that ends. */
export type DeliveryOutcome = { readonly lease: DeliveryLease } & (
  | { readonly kind: 'delivered'; readonly attempt: AttemptOutcome }
  | ({ readonly kind: 'failed' } & Failed)
  | ({ readonly kind: 'exhausted' } & Failed)
  /** Released without an attempt. */
  | { readonly kind: 'released'; readonly dueAt: Date }
);

interface Failed {
  readonly attempt: AttemptOutcome;
  readonly next: NextRow;
  /** Whether the push hung, or got no connection. */
  readonly isHard: boolean;
  /** Whether the failure was elsewhere, so that it says nothing about the host of the receiver. */
  readonly isElsewhere?: boolean;
}

/**
 * The queue of outcomes that wait to be stored. One statement stores many of them. While the database is down, they are kept and retried.
 * Times are those of the steady clock.
 */
export type OutcomeQueue = ReturnType<typeof createOutcomeQueue>;

type OutcomeLimits = Pick<
  EngineOptions,
  'outcomeBatchRows' | 'outcomeDelayMs' | 'outcomesInFlight' | 'maxPendingOutcomes' | 'storeRetryMs'
>;

const NEVER = Number.POSITIVE_INFINITY;

export function createOutcomeQueue(limits: OutcomeLimits) {
  const waiting: DeliveryOutcome[] = [];
  /** Number of outcomes that wait or are being stored. */
  let pending = 0;
  let writes = 0;
  let failures = 0;
  /**
   * Time at which waiting outcomes are stored even if they do not fill a batch. Undefined until the queue was queried after they arrived.
   */
  let dueAtMs: number | undefined;
  let isRipe = false;

  /** Whether another batch may be written. After a failure batches are written one at a time, because the others would fail too. */
  function mayWrite(): boolean {
    return waiting.length > 0 && writes < (failures > 0 ? 1 : limits.outcomesInFlight);
  }

  function nextAtMs(steadyMs: number): number {
    if (!mayWrite()) return NEVER;
    dueAtMs ??= steadyMs + limits.outcomeDelayMs;
    return dueAtMs;
  }

  function retryDelay(): number {
    const { shortest, longest } = limits.storeRetryMs;
    return Math.min(longest, shortest * 2 ** Math.min(failures - 1, 20));
  }

  return {
    add: (outcome: DeliveryOutcome) => {
      pending++;
      waiting.push(outcome);
    },
    /** Returns whether a push may start. */
    hasRoom: () => pending < limits.maxPendingOutcomes,
    isEmpty: () => pending === 0,

    /** Returns the batch to store now, which counts as in progress until it is settled. Undefined if there is none yet. */
    take: () => {
      const isFull = failures === 0 && waiting.length >= limits.outcomeBatchRows;
      if (!mayWrite() || !(isRipe || isFull)) return undefined;
      writes++;
      dueAtMs = undefined;
      isRipe = false;
      return waiting.splice(0, limits.outcomeBatchRows);
    },

    /** Ends a batch. Its unstored outcomes are retried. */
    settle: (batch: readonly DeliveryOutcome[], unstored: readonly DeliveryOutcome[], steadyMs: number) => {
      writes--;
      pending -= batch.length - unstored.length;
      failures = unstored.length === 0 ? 0 : failures + 1;
      waiting.unshift(...unstored);
      dueAtMs = waiting.length === 0 ? undefined : steadyMs + (failures === 0 ? 0 : retryDelay());
    },

    /**
     * Turns outcomes that waited for long enough into a batch. Call it between turns of the event loop, so that a batch has all outcomes of
     * the turn.
     */
    ripen: (steadyMs: number) => {
      isRipe = nextAtMs(steadyMs) <= steadyMs;
    },
    /** Stores waiting outcomes without waiting for further ones. */
    hurry: () => {
      isRipe = true;
    },
    /** Returns the time for the next call of `ripen`, as far as it is known. */
    nextAtMs,
  };
}
