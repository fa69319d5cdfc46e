import { isRetry, type Lease } from '../lease.ts';
import { type Breaker, type BreakerOptions, createBreaker } from './breaker.ts';
import { type Concurrency, type ConcurrencyOptions, createConcurrency } from './concurrency.ts';
import { createFifo, type Fifo } from './fifo.ts';

/** What is in memory for one subscription. */
export interface Lane {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly firsts: Fifo<Lease>;
  readonly retries: Fifo<Lease>;
  readonly breaker: Breaker;
  readonly concurrency: Concurrency;
  /** Reserved, queued and in flight. */
  held: number;
  bytes: number;
  inFlight: number;
  firstsInFlight: number;
  /** Turns with each push, so that neither kind starves the other. */
  retryIsNext: boolean;
  /** Somebody was turned away and wants to know of room. */
  wanted: boolean;
  /** It stands in the queue of lanes whose retries wait for those of others. */
  retriesBlocked: boolean;
  /** It stands in the queue of lanes that may push. */
  ready: boolean;
}

export interface LaneLimits {
  readonly laneConcurrency: number;
  readonly maxLaneConcurrency: number;
  readonly quickPushMs: number;
  readonly maxLaneDeliveries: number;
  readonly maxLaneBytes: number;
  readonly maxBytes: number;
  readonly maxSwept: number;
  readonly maxLaneSwept: number;
  readonly breaker: BreakerOptions;
}

export type Lanes = ReturnType<typeof createLanes>;

/** Accounts for the memory of all lanes. `onRoom` is called when there is room again after somebody was turned away. */
export function createLanes(limits: LaneLimits, onRoom: () => void) {
  const lanes = new Map<number, Lane>();
  const concurrency = {
    least: limits.laneConcurrency,
    most: limits.maxLaneConcurrency,
    quickMs: limits.quickPushMs,
  };
  let held = 0;
  let bytes = 0;
  let wanted = false;

  function laneOf(accountId: number, subscriptionId: number): Lane {
    const known = lanes.get(subscriptionId);
    if (known !== undefined) return known;
    const lane = createLane({ accountId, subscriptionId, breaker: limits.breaker, concurrency });
    lanes.set(subscriptionId, lane);
    return lane;
  }

  function hasRoomFor(lane: Lane, size: number): boolean {
    if (lane.held >= limits.maxLaneDeliveries) return false;
    // A lane that holds nothing takes one of any size.
    if (lane.bytes + size > limits.maxLaneBytes && lane.held > 0) return false;
    return bytes + size <= limits.maxBytes;
  }

  function hold(lane: Lane, size: number): void {
    lane.held++;
    lane.bytes += size;
    held++;
    bytes += size;
  }

  function free(lane: Lane, size: number): void {
    lane.held--;
    lane.bytes -= size;
    held--;
    bytes -= size;
    tellOfRoom(lane);
    if (lane.held === 0 && !lane.wanted && lane.breaker.isClean()) lanes.delete(lane.subscriptionId);
  }

  /** Half of what is swept at most, so that the sweep brings many at a time. */
  function tellOfRoom(lane: Lane): void {
    const laneHasRoom = lane.wanted && lane.held <= limits.maxLaneSwept / 2 && lane.bytes <= limits.maxLaneBytes / 2;
    const allHaveRoom = wanted && held <= limits.maxSwept / 2 && bytes <= limits.maxBytes / 2;
    if (!laneHasRoom && !allHaveRoom) return;
    if (laneHasRoom) lane.wanted = false;
    if (allHaveRoom) wanted = false;
    onRoom();
  }

  return {
    laneOf,
    find: (subscriptionId: number): Lane | undefined => lanes.get(subscriptionId),
    all: (): Iterable<Lane> => lanes.values(),
    hold,
    free,

    /** Holds memory for one that is about to be stored; false: it must go by the sweep. */
    reserve: (lane: Lane, size: number): boolean => {
      if (!hasRoomFor(lane, size)) {
        lane.wanted = true;
        return false;
      }
      hold(lane, size);
      return true;
    },

    /** How many the sweep may bring. */
    sweepRoom: (lane: Lane | undefined): number => {
      const room = Math.min(limits.maxSwept - held, bytes < limits.maxBytes ? limits.maxSwept : 0);
      if (room <= 0) wanted = true;
      const laneRoom = lane === undefined ? limits.maxLaneSwept : limits.maxLaneSwept - lane.held;
      const hasBytes = lane === undefined || lane.bytes < limits.maxLaneBytes;
      if (lane !== undefined && (laneRoom <= 0 || !hasBytes)) lane.wanted = true;
      return Math.max(0, Math.min(room, hasBytes ? laneRoom : 0));
    },

    freeBytes: (): number => Math.max(0, limits.maxBytes - bytes),
    bytes: (): number => bytes,
    held: (): number => held,
  };
}

interface LaneInput extends Pick<Lane, 'accountId' | 'subscriptionId'> {
  readonly breaker: BreakerOptions;
  readonly concurrency: ConcurrencyOptions;
}

function createLane({ accountId, subscriptionId, breaker, concurrency }: LaneInput): Lane {
  return {
    accountId,
    subscriptionId,
    concurrency: createConcurrency(concurrency),
    firsts: createFifo(),
    retries: createFifo(),
    breaker: createBreaker(breaker),
    held: 0,
    bytes: 0,
    inFlight: 0,
    firstsInFlight: 0,
    retryIsNext: false,
    wanted: false,
    retriesBlocked: false,
    ready: false,
  };
}

/** Puts it behind those of its kind. */
export function queueLease(lane: Lane, lease: Lease): void {
  (isRetry(lease) ? lane.retries : lane.firsts).push(lease);
}
