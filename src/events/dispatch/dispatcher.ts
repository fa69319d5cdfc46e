import { createRotation } from '../fairness.ts';
import { type DeliveryLease, isRetry, isSwept } from '../lease.ts';
import type { DeliveryOutcome, OutcomeQueue } from '../outcomes/outcome-queue.ts';
import type { Agenda } from '../sweep/agenda.ts';
import type { BreakerState } from './breaker.ts';
import { type Host, type Lane, type LaneKey, queueLease } from './lane.ts';
import { createLanes, type LaneLimits } from './lanes.ts';
import { reservedCount } from './rate.ts';
import type { RateRequest, ReservedTimes } from './rate-store.ts';
import { createSlots } from './slots.ts';

export interface SweepRoom {
  readonly firsts: number;
  readonly retries: number;
}

/**
 * Holds deliveries in memory and chooses the next push. The number of concurrent pushes is limited; accounts take turns, and so do the
 * subscriptions of an account. The dispatcher is passive: its methods report what happened and when (milliseconds since 1970). It returns
 * deliveries that it cannot keep as outcomes, notes in the agenda when there is room again, and `next` returns the delivery to push.
 */
export type Dispatcher = ReturnType<typeof createDispatcher>;

/** A push that failed. */
type EndedPush = Pick<Extract<DeliveryOutcome, { readonly kind: 'failed' }>, 'isHard' | 'isElsewhere'>;

export interface DispatchFigures {
  readonly lanes: number;
  readonly blockedLanes: number;
  readonly inFlight: number;
  readonly held: number;
  readonly bytes: number;
}

/** Creates a dispatcher. It writes to `agenda` and `outcomes`, and reads only whether there is room for outcomes. */
export function createDispatcher(
  agenda: Pick<Agenda, 'want' | 'notePause' | 'callBack'>,
  outcomes: Pick<OutcomeQueue, 'add' | 'hasRoom'>,
  limits: LaneLimits & { readonly concurrency: number },
) {
  const lanes = createLanes(limits);
  const { hosts } = lanes;
  const ready = createRotation<Lane>();
  const slots = createSlots(limits);
  const held = new Set<number>();
  /** Lanes whose rate allows no push now, with the time at which it allows one. */
  const resting = new Map<Lane, number>();
  let wakesAtMs = Number.POSITIVE_INFINITY;
  /** Lanes that need times for their pushes. */
  const unreserved = new Set<Lane>();
  let isClosed = false;

  function join(lane: Lane): void {
    if (lane.ready || lane.firsts.size + lane.retries.size === 0) return;
    lane.ready = true;
    ready.push(lane.accountId, lane);
  }

  function wakeLanes(nowMs: number): void {
    wakesAtMs = Number.POSITIVE_INFINITY;
    for (const [lane, untilMs] of [...resting]) {
      if (untilMs > nowMs) wakesAtMs = Math.min(wakesAtMs, untilMs);
      else {
        resting.delete(lane);
        join(lane);
      }
    }
  }

  /** Returns whether the rate of a lane allows a push now. If not, the lane comes back when it does. */
  function isInRate(lane: Lane, nowMs: number): boolean {
    if (lane.maxPerSecond === undefined) return true;
    const nextAtMs = lane.rate.nextAtMs(nowMs);
    if (nextAtMs !== undefined && nextAtMs <= nowMs) return true;
    if (nextAtMs === undefined) {
      if (!lane.isReserving) unreserved.add(lane);
    } else {
      resting.set(lane, nextAtMs);
      wakesAtMs = Math.min(wakesAtMs, nextAtMs);
    }
    return false;
  }

  /** Returns the lanes that need times for their pushes, and how many each needs. */
  function takeRateRequests(): readonly RateRequest[] {
    if (unreserved.size === 0) return [];
    const requests: RateRequest[] = [];
    for (const lane of unreserved) {
      const { accountId, subscriptionId, maxPerSecond, firsts, retries } = lane;
      const waiting = firsts.size + retries.size;
      if (waiting === 0 || maxPerSecond === undefined) continue;
      lane.isReserving = true;
      requests.push({ accountId, subscriptionId, count: reservedCount(waiting, maxPerSecond) });
    }
    unreserved.clear();
    return requests;
  }

  /**
   * Notes the times that were reserved. A lane without an entry has no rate any more. To one that got none nothing may be sent, so its
   * deliveries are released. Undefined: the request failed.
   */
  function setReserved(
    requests: readonly RateRequest[],
    reserved: readonly ReservedTimes[] | undefined,
    nowMs: number,
  ): void {
    const timesOf = new Map(reserved?.map((times) => [times.subscriptionId, times]));
    for (const { subscriptionId } of requests) {
      const lane = lanes.find(subscriptionId);
      if (lane === undefined) continue;
      lane.isReserving = false;
      const times = timesOf.get(subscriptionId);
      if (times?.count === 0) releaseAll(lane, nowMs);
      else if (times !== undefined) lane.rate.set(times, nowMs);
      else if (reserved !== undefined) lane.maxPerSecond = undefined;
      join(lane);
    }
  }

  function next(nowMs: number): DeliveryLease | undefined {
    if (wakesAtMs <= nowMs) wakeLanes(nowMs);
    while (slots.isFree() && outcomes.hasRoom()) {
      const accountId = ready.turn();
      if (accountId === undefined) return undefined;
      if (!slots.hasRoom(accountId)) {
        ready.pause(accountId);
        continue;
      }
      const lane = ready.shift();
      if (lane === undefined) return undefined;
      lane.ready = false;
      const lease = take(lane, nowMs);
      if (lease === undefined) continue;
      slots.enter(lane, lease);
      join(lane);
      return lease;
    }
    return undefined;
  }

  /** Takes the next delivery of a lane. Undefined when the lane may not push now, or has none; it comes back when this changes. */
  function take(lane: Lane, nowMs: number): DeliveryLease | undefined {
    if (!slots.mayPush(lane)) return undefined;
    if (!isInRate(lane, nowMs)) return undefined;
    const preferred = lane.retryIsNext ? slots.takeRetry(lane) : takeFirst(lane, nowMs);
    const lease = preferred ?? (lane.retryIsNext ? takeFirst(lane, nowMs) : slots.takeRetry(lane));
    if (lease === undefined) return undefined;
    lane.retryIsNext = !isRetry(lease);
    if (lane.maxPerSecond !== undefined) lane.rate.spend();
    return lease;
  }

  function takeFirst(lane: Lane, nowMs: number): DeliveryLease | undefined {
    if (lane.firsts.size === 0) return undefined;
    const state = hosts.stateOf(lane, nowMs);
    if (state === 'open') park(lane, nowMs);
    return state === 'closed' || (state === 'probing' && lane.firstsInFlight === 0) ? lane.firsts.shift() : undefined;
  }

  function end(outcome: DeliveryOutcome, startedMs: number, nowMs: number): void {
    const { lease } = outcome;
    const lane = lanes.laneOf(lease);
    const wasFull = lane.inFlight >= lane.concurrency.limit();
    if (!slots.leave(lane, lease)) return;
    if (outcome.kind === 'delivered') noteDelivered(lane, outcome.attempt.durationMs, wasFull, nowMs);
    else if (outcome.kind !== 'released') noteFailed(lane, outcome, startedMs, nowMs);
    free(lane, lease);
    const unblocked = isRetry(lease) ? slots.unblock(lane.accountId) : undefined;
    if (unblocked !== undefined) join(unblocked);
    ready.resume(lane.accountId);
    join(lane);
  }

  function noteDelivered(lane: Lane, durationMs: number, wasFull: boolean, nowMs: number): void {
    lane.concurrency.succeed(durationMs, wasFull);
    const closesLane = lane.breaker.succeed();
    if (!noteResponse(lane, nowMs) && closesLane) agenda.callBack([lane]);
  }

  function noteFailed(lane: Lane, { isHard, isElsewhere }: EndedPush, startedMs: number, nowMs: number): void {
    lane.concurrency.fail();
    if (lane.breaker.fail(nowMs, isHard)) parkUntilRetry(lane, nowMs);
    if (isElsewhere === true) return;
    if (!isHard) noteResponse(lane, nowMs);
    else if (hosts.fail(lane, startedMs, nowMs)) parkHost(lane.host, nowMs);
  }

  /**
   * Records a response of a host.
   * @returns whether the host's first attempts were parked until now
   */
  function noteResponse({ host }: Lane, nowMs: number): boolean {
    const closesHost = hosts.succeed(host, nowMs);
    if (closesHost) agenda.callBack([...host.lanes]);
    return closesHost;
  }

  function parkUntilRetry(lane: Lane, nowMs: number): void {
    park(lane, nowMs);
    agenda.notePause(lane.breaker.openUntilMs());
  }

  function parkHost(host: Host, nowMs: number): void {
    for (const lane of [...host.lanes]) if (hosts.stateOf(lane, nowMs) === 'open') park(lane, nowMs);
    agenda.notePause(host.breaker.openUntilMs());
  }

  /** Returns first attempts to the database. After the pause, one of them is tried. */
  function park(lane: Lane, nowMs: number): void {
    const untilMs = hosts.parkedUntilMs(lane, nowMs);
    for (const lease of lane.firsts.drain()) giveBack(lane, lease, untilMs);
  }

  function giveBack(lane: Lane, lease: DeliveryLease, dueAtMs: number): void {
    free(lane, lease);
    release(lease, dueAtMs);
  }

  function releaseAll(lane: Lane, nowMs: number): void {
    for (const lease of [...lane.firsts.drain(), ...lane.retries.drain()]) giveBack(lane, lease, nowMs);
  }

  function release(lease: DeliveryLease, dueAtMs: number): void {
    outcomes.add({ kind: 'released', lease, dueAt: new Date(dueAtMs) });
  }

  function free(lane: Lane, lease: DeliveryLease): void {
    if (lanes.free(lane, lease.body.length, isSwept(lease))) agenda.want();
  }

  function queue(lane: Lane, lease: DeliveryLease, nowMs: number): void {
    held.add(lease.id);
    const isParked = !isRetry(lease) && hosts.stateOf(lane, nowMs) === 'open';
    if (isParked) giveBack(lane, lease, hosts.parkedUntilMs(lane, nowMs));
    else if (isClosed) giveBack(lane, lease, nowMs);
    else {
      lane.maxPerSecond = lease.maxPerSecond;
      queueLease(lane, lease);
      join(lane);
    }
  }

  function turnAway(lease: DeliveryLease, nowMs: number): void {
    lanes.wantRoom(lease.accountId);
    release(lease, nowMs);
  }

  function stateOf({ accountId, host }: LaneKey, lane: Lane | undefined, nowMs: number): BreakerState {
    return lane === undefined ? hosts.stateOfNew(accountId, host, nowMs) : hosts.stateOf(lane, nowMs);
  }

  /** Empties the queues of all lanes. `sort` puts back the deliveries that stay. */
  function drainAll(sort: (lane: Lane, lease: DeliveryLease) => void): void {
    for (const lane of [...lanes.all()]) {
      for (const lease of [...lane.firsts.drain(), ...lane.retries.drain()]) sort(lane, lease);
    }
  }

  return {
    /** Holds memory for a first attempt. Returns false if it cannot be pushed from memory now. */
    reserve: (key: LaneKey, bytes: number, nowMs: number) => {
      if (isClosed) return false;
      const lane = lanes.laneOf(key);
      const isReserved = hosts.stateOf(lane, nowMs) === 'closed' && lanes.reserve(lane, bytes);
      if (!isReserved) lanes.tidy(lane);
      return isReserved;
    },

    cancel: (subscriptionId: number, bytes: number) => {
      const lane = lanes.find(subscriptionId);
      if (lane !== undefined && lanes.free(lane, bytes, false)) agenda.want();
    },

    /** Adds a lease whose memory is reserved. */
    enqueue: (lease: DeliveryLease, nowMs: number) => queue(lanes.laneOf(lease), lease, nowMs),

    /** Adds a lease from the sweep, or releases it when its account has used up its memory. */
    takeIn: (lease: DeliveryLease, nowMs: number) => {
      if (!lanes.hasBytes(lease.accountId)) return turnAway(lease, nowMs);
      const lane = lanes.laneOf(lease);
      lanes.hold(lane, lease.body.length, isSwept(lease));
      queue(lane, lease, nowMs);
    },

    /** Releases a lease for which its account has no room. */
    turnAway,
    /** Returns the next delivery to push, which counts as in flight from then on. Undefined if none can be pushed now. */
    next,
    /** Records the outcome of a push that began at `startedMs`. */
    end,
    /** Forgets deliveries whose outcomes are stored, or lost. */
    settle: (outcomes: readonly DeliveryOutcome[]) => {
      for (const { lease } of outcomes) held.delete(lease.id);
    },
    /** Returns whether this process holds the delivery: from the statement that leased it to the one that stored its outcome. */
    holds: (deliveryId: number) => held.has(deliveryId),

    /** Room for deliveries of one subscription. `accountRoom` covers all subscriptions of an account together. */
    sweepRoom: (key: LaneKey, nowMs: number) => {
      if (isClosed) return { firsts: 0, retries: 0 };
      const lane = lanes.find(key.subscriptionId);
      const room = lanes.sweepRoom(lane);
      const isProbed = lane !== undefined && lane.firsts.size + lane.firstsInFlight > 0;
      const firsts = { closed: room, open: 0, probing: isProbed ? 0 : Math.min(room, 1) }[stateOf(key, lane, nowMs)];
      return { firsts, retries: room };
    },

    accountRoom: lanes.accountRoom,
    /** Notes in the agenda when the account has room for many again. */
    wantRoom: lanes.wantRoom,
    /** Returns whether an account may have more bodies in memory. The last one may exceed the limit. */
    hasBytes: lanes.hasBytes,
    freeBytes: lanes.freeBytes,

    /** Forgets the failures of a subscription, because its receiver is reported to work again. */
    pardon: (subscriptionId: number) => {
      const lane = lanes.find(subscriptionId);
      if (lane === undefined) return;
      lane.breaker.succeed();
      lanes.tidy(lane);
    },

    /** Drops the deliveries of an owner that lost its leases, except those in flight. */
    forget: (owner: string) =>
      drainAll((lane, lease) => {
        if (lease.owner !== owner) return queueLease(lane, lease);
        free(lane, lease);
        held.delete(lease.id);
      }),

    /** Releases all deliveries that are not in flight, now and from now on. */
    close: (nowMs: number) => {
      isClosed = true;
      drainAll((lane, lease) => giveBack(lane, lease, nowMs));
    },

    /** Releases all deliveries in flight, whatever their outcome is. */
    abandon: (nowMs: number) => {
      for (const lease of slots.clear()) release(lease, nowMs);
    },

    inFlight: slots.inFlight,
    /** Returns the time at which the rate of a lane allows its next push. In milliseconds since 1970; infinite if none rests. */
    restsUntilMs: () => wakesAtMs,
    takeRateRequests,
    setReserved,

    figures: (nowMs: number) => {
      const all = [...lanes.all()];
      return {
        lanes: all.length,
        blockedLanes: all.filter((lane) => hosts.stateOf(lane, nowMs) !== 'closed').length,
        inFlight: slots.inFlight(),
        held: lanes.held(),
        bytes: lanes.bytes(),
      };
    },
  };
}
