import { isRetry, isSwept, type Lease } from '../lease.ts';
import { createRotation } from '../rotation.ts';
import type { BreakerState } from './breaker.ts';
import type { Host, Lane, LaneKey } from './lane.ts';
import { createLanes, type LaneLimits, queueLease } from './lanes.ts';
import { createPlaces } from './places.ts';

/** What a push came to, as far as the next one depends on it. `hard`: it held a connection for long, or got none. */
export type PushResult =
  | { readonly kind: 'delivered'; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly hard: boolean }
  /** Nothing was sent. */
  | { readonly kind: 'released' };

export interface DispatchPorts {
  /** Makes the attempt and hands its outcome on. Never rejects. */
  readonly push: (lease: Lease) => Promise<PushResult>;
  /** Gives a lease back without an attempt. */
  readonly release: (lease: Lease, dueAtMs: number) => void;
  /** Breaks off every push under way; they end as released. */
  readonly abort: () => void;
  /** False while outcomes cannot be stored. */
  readonly canStart: () => boolean;
  /** There is something to claim, or room for it. */
  readonly onRoom: () => void;
  /** The receiver of parked first attempts answers again, or the host of several. */
  readonly onClosed: (lanes: readonly Pick<LaneKey, 'accountId' | 'subscriptionId'>[]) => void;
  readonly now: () => number;
  readonly options: LaneLimits & { readonly concurrency: number; readonly abortMs: number };
}

export interface SweepRoom {
  readonly firsts: number;
  readonly retries: number;
}

/** Pushes what it is given: at most so many at a time, each account in its turn, and each subscription in its account's. */
export interface Dispatcher {
  /** Holds memory for a first attempt; false: it cannot be pushed from memory now. */
  readonly reserve: (key: LaneKey, bytes: number) => boolean;
  readonly cancel: (subscriptionId: number, bytes: number) => void;
  /** Takes a lease whose memory is reserved already, or not (from the sweep). */
  readonly enqueue: (lease: Lease, reserved: boolean) => void;
  /** For one subscription; `accountRoom` is for all of an account together. */
  readonly sweepRoom: (key: LaneKey) => SweepRoom;
  readonly accountRoom: (accountId: number) => number;
  /** Forgets what failed for the subscription before: somebody says that it works again. */
  readonly pardon: (subscriptionId: number) => void;
  /** Tells by `onRoom` when the account has room for many again. */
  readonly wantRoom: (accountId: number) => void;
  /** Whether an account may have more bodies in memory; the last one may be larger than its room. */
  readonly hasBytes: (accountId: number) => boolean;
  readonly freeBytes: () => number;
  /** Starts what may be started. */
  readonly pump: () => void;
  /** Forgets what is not in flight of an owner that lost its leases. */
  readonly forget: (owner: string) => readonly Lease[];
  /** Gives back what is not in flight, waits for the rest, breaks off what is in flight still after that time, and gives it back. */
  readonly drain: (timeoutMs: number) => Promise<void>;
  readonly figures: () => DispatchFigures;
}

export interface DispatchFigures {
  readonly lanes: number;
  readonly blockedLanes: number;
  readonly inFlight: number;
  readonly held: number;
  readonly bytes: number;
}

interface PushCircumstances {
  /** The lane had as many pushes under way as were allowed. */
  readonly wasFull: boolean;
  readonly startedMs: number;
}

export function createDispatcher(ports: DispatchPorts): Dispatcher {
  const { now, options } = ports;
  const lanes = createLanes(options, ports.onRoom);
  const { hosts } = lanes;
  const ready = createRotation<Lane>();
  const places = createPlaces(options, join);
  const timers = new Set<NodeJS.Timeout>();
  let draining = false;
  let onIdle: (() => void) | undefined;

  function join(lane: Lane): void {
    if (lane.ready || lane.firsts.size + lane.retries.size === 0) return;
    lane.ready = true;
    ready.push(lane.accountId, lane);
  }

  function pump(): void {
    while (places.isFree() && ports.canStart()) {
      const accountId = ready.turn();
      if (accountId === undefined) return;
      if (!places.hasRoom(accountId)) {
        ready.pause(accountId);
        continue;
      }
      const lane = ready.shift();
      if (lane === undefined) return;
      lane.ready = false;
      const lease = take(lane);
      if (lease === undefined) continue;
      void run(lane, lease);
      join(lane);
    }
  }

  /** Undefined: the lane comes back when what keeps it is over. */
  function take(lane: Lane): Lease | undefined {
    if (!places.mayPush(lane)) return undefined;
    const preferred = lane.retryIsNext ? places.takeRetry(lane) : takeFirst(lane);
    const lease = preferred ?? (lane.retryIsNext ? takeFirst(lane) : places.takeRetry(lane));
    if (lease !== undefined) lane.retryIsNext = !isRetry(lease);
    return lease;
  }

  function takeFirst(lane: Lane): Lease | undefined {
    if (lane.firsts.size === 0) return undefined;
    const state = hosts.stateOf(lane, now());
    if (state === 'open') park(lane);
    return state === 'closed' || (state === 'probing' && lane.firstsInFlight === 0) ? lane.firsts.shift() : undefined;
  }

  async function run(lane: Lane, lease: Lease): Promise<void> {
    const startedMs = now();
    places.enter(lane, lease);
    const result = await ports.push(lease);
    const wasFull = lane.inFlight >= lane.concurrency.limit();
    if (!places.leave(lane, lease)) return;
    note(lane, result, { wasFull, startedMs });
    lanes.free(lane, lease.body.length, isSwept(lease));
    ready.resume(lane.accountId);
    join(lane);
    pump();
    if (places.inFlight() === 0) onIdle?.();
  }

  function note(lane: Lane, result: PushResult, { wasFull, startedMs }: PushCircumstances): void {
    if (result.kind === 'released') return;
    if (result.kind === 'delivered') lane.concurrency.succeed(result.durationMs, wasFull);
    else lane.concurrency.fail();
    if (result.kind === 'failed' && result.hard) noteHanging(lane, startedMs);
    else noteAnswer(lane, result.kind === 'delivered');
  }

  function noteHanging(lane: Lane, startedMs: number): void {
    if (lane.breaker.fail(now(), true)) parkUntilRetry(lane);
    if (hosts.fail(lane, startedMs, now())) parkHost(lane.host);
  }

  function noteAnswer(lane: Lane, isDelivered: boolean): void {
    const closesLane = isDelivered && lane.breaker.succeed();
    if (!isDelivered && lane.breaker.fail(now(), false)) parkUntilRetry(lane);
    const closesHost = hosts.succeed(lane, now());
    if (closesHost) ports.onClosed([...lane.host.lanes]);
    else if (closesLane) ports.onClosed([lane]);
  }

  function parkUntilRetry(lane: Lane): void {
    park(lane);
    wakeAt(lane.breaker.openUntilMs());
  }

  function parkHost(host: Host): void {
    for (const lane of [...host.lanes]) if (hosts.stateOf(lane, now()) === 'open') park(lane);
    wakeAt(host.breaker.openUntilMs());
  }

  /** First attempts go back to the database; after the pause one of them is tried. */
  function park(lane: Lane): void {
    const untilMs = hosts.parkedUntilMs(lane, now());
    for (const lease of lane.firsts.drain()) giveBack(lane, lease, untilMs);
  }

  function wakeAt(atMs: number): void {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        ports.onRoom();
      },
      Math.max(0, atMs - now()) + 1,
    );
    timers.add(timer);
  }

  function giveBack(lane: Lane, lease: Lease, dueAtMs: number): void {
    lanes.free(lane, lease.body.length, isSwept(lease));
    ports.release(lease, dueAtMs);
  }

  function giveBackQueued(): void {
    for (const lane of [...lanes.all()]) {
      for (const lease of [...lane.firsts.drain(), ...lane.retries.drain()]) giveBack(lane, lease, now());
    }
  }

  function stateOf({ accountId, host }: LaneKey, lane: Lane | undefined): BreakerState {
    return lane === undefined ? hosts.stateOfNew(accountId, host, now()) : hosts.stateOf(lane, now());
  }

  async function idleWithin(timeoutMs: number): Promise<void> {
    if (places.inFlight() === 0) return;
    const idle = Promise.withResolvers<void>();
    onIdle = idle.resolve;
    const timer = setTimeout(idle.resolve, timeoutMs);
    await idle.promise;
    clearTimeout(timer);
  }

  return {
    reserve: (key, bytes) => {
      if (draining) return false;
      const lane = lanes.laneOf(key);
      const isReserved = hosts.stateOf(lane, now()) === 'closed' && lanes.reserve(lane, bytes);
      if (!isReserved) lanes.tidy(lane);
      return isReserved;
    },

    cancel: (subscriptionId, bytes) => {
      const lane = lanes.find(subscriptionId);
      if (lane !== undefined) lanes.free(lane, bytes, false);
    },

    enqueue: (lease, reserved) => {
      const lane = lanes.laneOf(lease);
      if (!reserved) lanes.hold(lane, lease.body.length, isSwept(lease));
      const isParked = !isRetry(lease) && hosts.stateOf(lane, now()) === 'open';
      if (draining || isParked) return giveBack(lane, lease, isParked ? hosts.parkedUntilMs(lane, now()) : now());
      queueLease(lane, lease);
      join(lane);
      pump();
    },

    sweepRoom: (key) => {
      if (draining) return { firsts: 0, retries: 0 };
      const lane = lanes.find(key.subscriptionId);
      const room = lanes.sweepRoom(lane);
      const isProbed = lane !== undefined && lane.firsts.size + lane.firstsInFlight > 0;
      const firsts = { closed: room, open: 0, probing: isProbed ? 0 : Math.min(room, 1) }[stateOf(key, lane)];
      return { firsts, retries: room };
    },

    pardon: (subscriptionId) => {
      const lane = lanes.find(subscriptionId);
      if (lane === undefined) return;
      lane.breaker.succeed();
      lanes.tidy(lane);
    },

    accountRoom: lanes.accountRoom,
    wantRoom: lanes.wantRoom,
    hasBytes: lanes.hasBytes,
    freeBytes: lanes.freeBytes,
    pump,

    forget: (owner) => {
      const forgotten: Lease[] = [];
      for (const lane of [...lanes.all()]) {
        for (const lease of [...lane.firsts.drain(), ...lane.retries.drain()]) {
          if (lease.owner !== owner) {
            queueLease(lane, lease);
            continue;
          }
          lanes.free(lane, lease.body.length, isSwept(lease));
          forgotten.push(lease);
        }
      }
      return forgotten;
    },

    drain: async (timeoutMs) => {
      draining = true;
      for (const timer of timers) clearTimeout(timer);
      giveBackQueued();
      await idleWithin(timeoutMs);
      if (places.inFlight() > 0) ports.abort();
      await idleWithin(options.abortMs);
      for (const lease of places.clear()) ports.release(lease, now());
    },

    figures: () => {
      const all = [...lanes.all()];
      return {
        lanes: all.length,
        blockedLanes: all.filter((lane) => hosts.stateOf(lane, now()) !== 'closed').length,
        inFlight: places.inFlight(),
        held: lanes.held(),
        bytes: lanes.bytes(),
      };
    },
  };
}
