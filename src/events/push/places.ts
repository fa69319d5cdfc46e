import { isRetry, type Lease } from '../lease.ts';
import { createFifo } from './fifo.ts';
import type { Lane } from './lanes.ts';

export interface PlaceLimits {
  /** Pushes at a time. */
  readonly concurrency: number;
  /** What each lane may have of them whatever the others do. */
  readonly laneConcurrency: number;
}

/** The pushes that may be under way at a time, and what each kind may have of them. */
export interface Places {
  readonly isFree: () => boolean;
  /** False: the lane has in flight what it may, and comes back when one of them ends. */
  readonly mayPush: (lane: Lane) => boolean;
  /** Undefined: there is none, or the lane is told of by `leave` when it may push one. */
  readonly takeRetry: (lane: Lane) => Lease | undefined;
  readonly enter: (lane: Lane, lease: Lease) => void;
  /** False: it had left before. */
  readonly leave: (lane: Lane, lease: Lease) => boolean;
  readonly inFlight: () => number;
  /** Empties them. */
  readonly clear: () => readonly Lease[];
}

/**
 * Half of the places at most are for retries, and a quarter for what lanes have beyond their own share: receivers that were quick and suddenly hang,
 * however many, leave the last quarter to the first attempts of others.
 */
export function createPlaces(limits: PlaceLimits, onRetryPlace: (lane: Lane) => void): Places {
  const maxRetries = Math.max(1, Math.floor(limits.concurrency / 2));
  const maxExtras = Math.floor(limits.concurrency / 4);
  const leases = new Set<Lease>();
  /** Lanes that could push a retry, were there not so many already. */
  const blockedByRetries = createFifo<Lane>();
  let retries = 0;
  let extras = 0;

  function mayPush(lane: Lane): boolean {
    if (lane.inFlight < limits.laneConcurrency) return true;
    return lane.inFlight < lane.concurrency.limit() && extras < maxExtras;
  }

  /** One that can use the place now; the others there come back by their own pushes. */
  function unblockOne(): void {
    for (let lane = blockedByRetries.shift(); lane !== undefined; lane = blockedByRetries.shift()) {
      lane.retriesBlocked = false;
      if (lane.retries.size === 0 || !mayPush(lane)) continue;
      onRetryPlace(lane);
      return;
    }
  }

  return {
    isFree: () => leases.size < limits.concurrency,
    mayPush,

    takeRetry: (lane) => {
      if (lane.retries.size === 0) return undefined;
      if (retries < maxRetries) return lane.retries.shift();
      if (!lane.retriesBlocked) blockedByRetries.push(lane);
      lane.retriesBlocked = true;
      return undefined;
    },

    enter: (lane, lease) => {
      leases.add(lease);
      lane.inFlight++;
      if (lane.inFlight > limits.laneConcurrency) extras++;
      if (isRetry(lease)) retries++;
      else lane.firstsInFlight++;
    },

    leave: (lane, lease) => {
      if (!leases.delete(lease)) return false;
      if (lane.inFlight > limits.laneConcurrency) extras--;
      lane.inFlight--;
      if (isRetry(lease)) {
        retries--;
        unblockOne();
      } else lane.firstsInFlight--;
      return true;
    },

    inFlight: () => leases.size,
    clear: () => {
      const left = [...leases];
      leases.clear();
      return left;
    },
  };
}
