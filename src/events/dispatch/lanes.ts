import { createPool } from '../fairness.ts';
import { type BreakerOptions, type BreakerState, createBreaker } from './breaker.ts';
import { createLane, type Host, type Lane, type LaneKey, type LaneOptions } from './lane.ts';

export interface LaneLimits extends LaneOptions {
  readonly maxLaneDeliveries: number;
  readonly maxLaneBytes: number;
  readonly maxBytes: number;
  readonly maxSwept: number;
  readonly maxLaneSwept: number;
  readonly maxIdleLanes: number;
}

/** Accounts for the memory of all lanes. */
export function createLanes(limits: LaneLimits) {
  const lanes = new Map<number, Lane>();
  const hosts = createHosts(limits.breaker, limits.laneConcurrency);
  const bytes = createPool(limits.maxBytes);
  const swept = createPool(limits.maxSwept);
  /** By account: lanes that hold nothing, the one that is so for longest first. */
  const idle = new Map<number, Set<Lane>>();
  /** Accounts that were turned away. */
  const wanted = new Set<number>();
  /** One of them held nothing itself: what others give back is its room. */
  let exhausted = false;
  let held = 0;

  function laneOf({ accountId, subscriptionId, host: name }: LaneKey): Lane {
    const known = lanes.get(subscriptionId);
    if (known !== undefined) return known;
    const host = hosts.hostOf(accountId, name);
    const lane = createLane({ accountId, subscriptionId, host }, limits);
    host.lanes.add(lane);
    lanes.set(subscriptionId, lane);
    return lane;
  }

  function remove(lane: Lane): void {
    lanes.delete(lane.subscriptionId);
    hosts.remove(lane);
    setBusy(lane);
  }

  function setBusy(lane: Lane): void {
    const idlers = idle.get(lane.accountId);
    if (idlers?.delete(lane) === true && idlers.size === 0) idle.delete(lane.accountId);
  }

  /** One that holds nothing is kept for its breaker alone, while its account has not too many of them. */
  function tidy(lane: Lane): void {
    if (lane.held > 0) return;
    if (lane.breaker.isClean()) {
      remove(lane);
      return;
    }
    const idlers = idle.get(lane.accountId) ?? new Set();
    idle.set(lane.accountId, idlers.add(lane));
    const [oldest] = idlers;
    if (idlers.size > limits.maxIdleLanes && oldest !== undefined) remove(oldest);
  }

  function hasRoomFor(lane: Lane, size: number): boolean {
    if (lane.held >= limits.maxLaneDeliveries) return false;
    // A lane that holds nothing takes one of any size.
    return lane.bytes + size <= limits.maxLaneBytes || lane.held === 0;
  }

  function hold(lane: Lane, size: number, isSwept: boolean): void {
    if (lane.held === 0) setBusy(lane);
    lane.held++;
    lane.bytes += size;
    held++;
    bytes.take(lane.accountId, size);
    if (isSwept) swept.take(lane.accountId);
  }

  function free(lane: Lane, size: number, isSwept: boolean): boolean {
    lane.held--;
    lane.bytes -= size;
    held--;
    bytes.give(lane.accountId, size);
    if (isSwept) swept.give(lane.accountId);
    const hasRoom = takeRoom(lane);
    tidy(lane);
    return hasRoom;
  }

  /** Half of what is swept at most, so that the sweep brings many at a time. @returns whether somebody who was turned away has room now */
  function takeRoom(lane: Lane): boolean {
    const laneHasRoom = lane.wanted && lane.held <= limits.maxLaneSwept / 2 && lane.bytes <= limits.maxLaneBytes / 2;
    const accountHasRoom = wanted.has(lane.accountId) && isHalfEmpty(lane.accountId);
    const allHaveRoom = exhausted && swept.free() >= limits.maxSwept / 4 && bytes.free() >= limits.maxBytes / 4;
    if (laneHasRoom) lane.wanted = false;
    if (accountHasRoom) wanted.delete(lane.accountId);
    if (allHaveRoom) exhausted = false;
    return laneHasRoom || accountHasRoom || allHaveRoom;
  }

  function isHalfEmpty(accountId: number): boolean {
    return [swept, bytes].every((pool) => pool.room(accountId) >= Math.max(1, pool.usedBy(accountId)));
  }

  function wantRoom(accountId: number): void {
    wanted.add(accountId);
    exhausted ||= bytes.usedBy(accountId) === 0;
  }

  return {
    hosts,
    laneOf,
    find: (subscriptionId: number): Lane | undefined => lanes.get(subscriptionId),
    all: (): Iterable<Lane> => lanes.values(),
    hold,
    /** @returns whether there is room again for somebody who was turned away */
    free,
    tidy,

    /** Holds memory for one that is about to be stored; false: it must go by the sweep. */
    reserve: (lane: Lane, size: number): boolean => {
      if (!hasRoomFor(lane, size)) lane.wanted = true;
      else if (bytes.room(lane.accountId) < size) wantRoom(lane.accountId);
      else {
        hold(lane, size, false);
        return true;
      }
      return false;
    },

    /** How many the sweep may bring for one subscription. */
    sweepRoom: (lane: Lane | undefined): number => {
      if (lane === undefined) return limits.maxLaneSwept;
      if (lane.held < limits.maxLaneSwept && lane.bytes < limits.maxLaneBytes) return limits.maxLaneSwept - lane.held;
      lane.wanted = true;
      return 0;
    },

    /** How many it may bring for one account. */
    accountRoom: (accountId: number): number => (bytes.room(accountId) > 0 ? swept.room(accountId) : 0),
    /** Somebody found too little of it. */
    wantRoom,
    hasBytes: (accountId: number): boolean => bytes.room(accountId) > 0,

    freeBytes: (): number => Math.max(0, bytes.free()),
    bytes: (): number => limits.maxBytes - bytes.free(),
    held: (): number => held,
  };
}

/**
 * `probes`: first attempts at a time to a host that does not answer, of different subscriptions.
 *
 * Many callback URLs on one host that hangs are one trouble, not many. A path that hangs while others answer is only its own: a failure
 * counts when nothing was answered since that push began, and the breaker opens when as many different subscriptions failed so as
 * a breaker of one takes failures.
 */
function createHosts(options: BreakerOptions, probes: number) {
  const hosts = new Map<string, Host>();
  const keyOf = (accountId: number, name: string) => `${accountId} ${name}`;

  function probing(firstsOfOthers: number): BreakerState {
    return firstsOfOthers < probes ? 'probing' : 'open';
  }

  return {
    hostOf: (accountId: number, name: string): Host => {
      const key = keyOf(accountId, name);
      const known = hosts.get(key);
      if (known !== undefined) return known;
      const host: Host = {
        accountId,
        name,
        breaker: createBreaker({ ...options, failures: 1 }),
        lanes: new Set(),
        suspects: new Set(),
        answeredAtMs: Number.NEGATIVE_INFINITY,
        firstsInFlight: 0,
      };
      hosts.set(key, host);
      return host;
    },

    /** Forgets the host with the last of its lanes. */
    remove: (lane: Lane): void => {
      const { host } = lane;
      host.lanes.delete(lane);
      if (host.lanes.size === 0) hosts.delete(keyOf(host.accountId, host.name));
    },

    /**
     * Of first attempts: by what the subscription's own pushes came to, and by those of its account to the same host. One that did not fail
     * lately may work whatever the others came to, so it is tried during pauses too.
     */
    stateOf: ({ host, breaker, firstsInFlight }: Lane, nowMs: number): BreakerState => {
      const own = breaker.state(nowMs);
      if (own === 'open') return own;
      const shared = host.breaker.state(nowMs);
      if (shared === 'closed') return own;
      if (shared === 'open' && !breaker.isClean()) return shared;
      return probing(host.firstsInFlight - firstsInFlight);
    },

    /** Of a subscription that is not in memory. */
    stateOfNew: (accountId: number, name: string, nowMs: number): BreakerState => {
      const host = hosts.get(keyOf(accountId, name));
      return host === undefined || host.breaker.state(nowMs) === 'closed' ? 'closed' : probing(host.firstsInFlight);
    },

    /** Until when first attempts are parked that may not be made now. */
    parkedUntilMs: ({ host, breaker }: Lane, nowMs: number): number => {
      const untilMs = Math.max(breaker.openUntilMs(), breaker.isClean() ? 0 : host.breaker.openUntilMs());
      return untilMs > nowMs ? untilMs : nowMs + options.shortestParkMs;
    },

    /** A push hung or got no connection. True: first attempts to this host are parked from now on. */
    fail: ({ host, subscriptionId }: Lane, startedMs: number, nowMs: number): boolean => {
      if (host.answeredAtMs >= startedMs) return false;
      if (host.suspects.size < options.hardFailures) host.suspects.add(subscriptionId);
      return host.suspects.size >= options.hardFailures && host.breaker.fail(nowMs, true);
    },

    /** A push was answered, or ended at once. True: first attempts to this host were parked until now. */
    succeed: (host: Host, nowMs: number): boolean => {
      host.answeredAtMs = nowMs;
      host.suspects.clear();
      return host.breaker.succeed();
    },
  };
}
