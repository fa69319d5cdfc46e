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

/** Outcomes that are stored together. */
type Part = DeliveryOutcome[];

const NEVER = Number.POSITIVE_INFINITY;
/** Key of the part with the outcomes of all accounts. */
const ALL = 0;

export function createOutcomeQueue(limits: OutcomeLimits) {
  const parts = new Map<number, Part>();
  /** Parts with waiting outcomes, in turns. */
  const ready = new Set<Part>();
  /** Parts that could not be stored. They are tried again one at a time, because the others would fail too. */
  const failed = new Set<Part>();
  let isPerAccount = false;
  /** Number of outcomes that wait or are being stored. */
  let pending = 0;
  let writes = 0;
  /**
   * Time at which waiting outcomes are stored even if they do not fill a batch. Undefined until the queue was queried after they arrived.
   */
  let dueAtMs: number | undefined;
  /** Number of ready parts that waited for long enough. */
  let ripe = 0;
  let failures = 0;
  let retryAtMs = NEVER;
  let isRetryRipe = false;
  let retry: readonly DeliveryOutcome[] | undefined;

  const keyOf = ({ lease }: DeliveryOutcome) => (isPerAccount ? lease.accountId : ALL);

  function partOf(outcome: DeliveryOutcome): Part {
    const key = keyOf(outcome);
    const known = parts.get(key);
    if (known !== undefined) return known;
    const part: Part = [];
    parts.set(key, part);
    return part;
  }

  function takeFrom(part: Part): readonly DeliveryOutcome[] {
    writes++;
    return part.splice(0, limits.outcomeBatchRows);
  }

  function takeRetry(): readonly DeliveryOutcome[] | undefined {
    const [part] = failed;
    if (part === undefined || !isRetryRipe || retry !== undefined) return undefined;
    isRetryRipe = false;
    retry = takeFrom(part);
    return retry;
  }

  function takeReady(): readonly DeliveryOutcome[] | undefined {
    const [part] = ready;
    if (part === undefined) return undefined;
    if (ripe === 0 && part.length < limits.outcomeBatchRows) return undefined;
    ripe = Math.max(0, ripe - 1);
    dueAtMs = undefined;
    const batch = takeFrom(part);
    ready.delete(part);
    if (part.length > 0) ready.add(part);
    return batch;
  }

  function readyAtMs(steadyMs: number): number {
    if (ready.size === 0) return NEVER;
    dueAtMs ??= steadyMs + limits.outcomeDelayMs;
    return dueAtMs;
  }

  function nextAtMs(steadyMs: number): number {
    if (writes >= limits.outcomesInFlight) return NEVER;
    return Math.min(readyAtMs(steadyMs), retry === undefined ? retryAtMs : NEVER);
  }

  function noteFailed(part: Part, isRetry: boolean, steadyMs: number): void {
    ready.delete(part);
    ripe = Math.min(ripe, ready.size);
    // Behind the others, because these may be on other nodes.
    failed.delete(part);
    failed.add(part);
    // A failure beside a retry says nothing new.
    if (failures > 0 && !isRetry) return;
    const { shortest, longest } = limits.storeRetryMs;
    retryAtMs = steadyMs + Math.min(longest, shortest * 2 ** Math.min(failures, 20));
    failures++;
  }

  /** Lets all parts have their turns again. */
  function noteRecovered(): void {
    failures = 0;
    retryAtMs = NEVER;
    for (const part of failed) if (part.length > 0) ready.add(part);
    failed.clear();
  }

  return {
    /** Stores the outcomes of each account apart, so that an account does not wait for the node of another one. Call it before outcomes come. */
    storePerAccount: () => {
      isPerAccount = true;
    },
    add: (outcome: DeliveryOutcome) => {
      pending++;
      const part = partOf(outcome);
      part.push(outcome);
      if (!failed.has(part)) ready.add(part);
    },
    /** Returns whether a push may start. */
    hasRoom: () => pending < limits.maxPendingOutcomes,
    isEmpty: () => pending === 0,

    /** Returns the batch to store now, which counts as in progress until it is settled. Undefined if there is none yet. */
    take: () => (writes < limits.outcomesInFlight ? (takeRetry() ?? takeReady()) : undefined),

    /** Ends a batch. Its unstored outcomes are retried. */
    settle: (batch: readonly DeliveryOutcome[], unstored: readonly DeliveryOutcome[], steadyMs: number) => {
      writes--;
      pending -= batch.length - unstored.length;
      const isRetry = batch === retry;
      if (isRetry) retry = undefined;
      const [first] = batch;
      if (first === undefined) return;
      const part = partOf(first);
      part.unshift(...unstored);
      if (unstored.length > 0) noteFailed(part, isRetry, steadyMs);
      else if (isRetry || failed.has(part)) noteRecovered();
      else if (part.length === 0) parts.delete(keyOf(first));
      dueAtMs = ready.size === 0 ? undefined : steadyMs;
    },

    /**
     * Turns outcomes that waited for long enough into batches. Call it between turns of the event loop, so that a batch has all outcomes of
     * the turn.
     */
    ripen: (steadyMs: number) => {
      if (readyAtMs(steadyMs) <= steadyMs) ripe = ready.size;
      isRetryRipe = retryAtMs <= steadyMs;
    },
    /** Stores waiting outcomes without waiting for further ones. */
    hurry: () => {
      ripe = ready.size;
      isRetryRipe = true;
    },
    /** Returns the time for the next call of `ripen`, as far as it is known. */
    nextAtMs,
  };
}
