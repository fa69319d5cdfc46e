import { isRetry, type Lease } from '../lease.ts';
import { createFifo } from './fifo.ts';
import { createLanes, type Lane, type LaneLimits, queueLease } from './lanes.ts';
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
  /** The receiver of parked first attempts answers again. */
  readonly onClosed: (lane: { readonly accountId: number; readonly subscriptionId: number }) => void;
  readonly now: () => number;
  readonly options: LaneLimits & { readonly concurrency: number; readonly abortMs: number };
}

export interface SweepRoom {
  readonly firsts: number;
  readonly retries: number;
}

/** Pushes what it is given: at most so many at a time, each subscription in its turn. */
export interface Dispatcher {
  /** Holds memory for a first attempt; false: it cannot be pushed from memory now. */
  readonly reserve: (accountId: number, subscriptionId: number, bytes: number) => boolean;
  readonly cancel: (subscriptionId: number, bytes: number) => void;
  /** Takes a lease whose memory is reserved already, or not (from the sweep). */
  readonly enqueue: (lease: Lease, reserved: boolean) => void;
  readonly sweepRoom: (subscriptionId: number) => SweepRoom;
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

export function createDispatcher(ports: DispatchPorts): Dispatcher {
  const { now, options } = ports;
  const lanes = createLanes(options, ports.onRoom);
  const ready = createFifo<Lane>();
  const places = createPlaces(options, join);
  const timers = new Set<NodeJS.Timeout>();
  let draining = false;
  let onIdle: (() => void) | undefined;

  function join(lane: Lane): void {
    if (lane.ready || lane.firsts.size + lane.retries.size === 0) return;
    lane.ready = true;
    ready.push(lane);
  }

  function pump(): void {
    while (places.isFree() && ports.canStart()) {
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
    const state = lane.breaker.state(now());
    if (state === 'open' || (state === 'probing' && lane.firstsInFlight > 0)) return undefined;
    return lane.firsts.shift();
  }

  async function run(lane: Lane, lease: Lease): Promise<void> {
    places.enter(lane, lease);
    const result = await ports.push(lease);
    const wasFull = lane.inFlight >= lane.concurrency.limit();
    if (!places.leave(lane, lease)) return;
    note(lane, result, wasFull);
    lanes.free(lane, lease.body.length);
    join(lane);
    pump();
    if (places.inFlight() === 0) onIdle?.();
  }

  function note(lane: Lane, result: PushResult, wasFull: boolean): void {
    if (result.kind === 'released') return;
    if (result.kind === 'delivered') {
      lane.concurrency.succeed(result.durationMs, wasFull);
      if (lane.breaker.succeed()) ports.onClosed(lane);
      return;
    }
    lane.concurrency.fail();
    if (lane.breaker.fail(now(), result.hard)) park(lane);
  }

  /** First attempts go back to the database; after the pause one of them is tried. */
  function park(lane: Lane): void {
    const untilMs = lane.breaker.openUntilMs();
    for (const lease of lane.firsts.drain()) giveBack(lane, lease, untilMs);
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        ports.onRoom();
      },
      Math.max(0, untilMs - now()) + 1,
    );
    timers.add(timer);
  }

  function giveBack(lane: Lane, lease: Lease, dueAtMs: number): void {
    lanes.free(lane, lease.body.length);
    ports.release(lease, dueAtMs);
  }

  function giveBackQueued(): void {
    for (const lane of [...lanes.all()]) {
      for (const lease of [...lane.firsts.drain(), ...lane.retries.drain()]) giveBack(lane, lease, now());
    }
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
    reserve: (accountId, subscriptionId, bytes) => {
      if (draining) return false;
      const lane = lanes.laneOf(accountId, subscriptionId);
      return lane.breaker.state(now()) === 'closed' && lanes.reserve(lane, bytes);
    },

    cancel: (subscriptionId, bytes) => {
      const lane = lanes.find(subscriptionId);
      if (lane !== undefined) lanes.free(lane, bytes);
    },

    enqueue: (lease, reserved) => {
      const lane = lanes.laneOf(lease.accountId, lease.subscriptionId);
      if (!reserved) lanes.hold(lane, lease.body.length);
      const isParked = !isRetry(lease) && lane.breaker.state(now()) === 'open';
      if (draining || isParked) return giveBack(lane, lease, isParked ? lane.breaker.openUntilMs() : now());
      queueLease(lane, lease);
      join(lane);
      pump();
    },

    sweepRoom: (subscriptionId) => {
      if (draining) return { firsts: 0, retries: 0 };
      const lane = lanes.find(subscriptionId);
      const room = lanes.sweepRoom(lane);
      const state = lane?.breaker.state(now()) ?? 'closed';
      const isProbed = lane !== undefined && lane.firsts.size + lane.firstsInFlight > 0;
      const firsts = { closed: room, open: 0, probing: isProbed ? 0 : Math.min(room, 1) }[state];
      return { firsts, retries: room };
    },

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
          lanes.free(lane, lease.body.length);
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
        blockedLanes: all.filter(({ breaker }) => breaker.state(now()) !== 'closed').length,
        inFlight: places.inFlight(),
        held: lanes.held(),
        bytes: lanes.bytes(),
      };
    },
  };
}
