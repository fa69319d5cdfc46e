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

/** Creates the lanes, which also count the memory of all deliveries. */
export function createLanes(limits: LaneLimits) {
  const lanes = new Map<number, Lane>();
  const hosts = createHosts(limits.breaker, limits.laneConcurrency);
  const bytes = createPool(limits.maxBytes);
  const swept = createPool(limits.maxSwept);
  /** Lanes without deliveries by account, the longest idle first. */
  const idle = new Map<number, Set<Lane>>();
  /** Accounts whose deliveries were turned away. */
  const wanted = new Set<number>();
  /** Whether a lane that held nothing was turned away. Then any released memory is its room. */
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

  /** Keeps a lane without deliveries only for its breaker, and only up to a maximum per account. */
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
    // A lane that holds nothing accepts a delivery of any size.
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

  /**
   * Reserves at most half of the swept memory, so that a sweep loads many deliveries at a time.
   * @returns whether there is room for a delivery that was turned away
   */
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
    /**
     * Releases memory.
     * @returns whether there is room again for a delivery that was turned away
     */
    free,
    tidy,

    /** Holds memory for a delivery that is about to be stored. Returns false if the sweep must load it later. */
    reserve: (lane: Lane, size: number): boolean => {
      if (!hasRoomFor(lane, size)) lane.wanted = true;
      else if (bytes.room(lane.accountId) < size) wantRoom(lane.accountId);
      else {
        hold(lane, size, false);
        return true;
      }
      return false;
    },

    /** Maximum number of deliveries that the sweep may claim for one subscription. */
    sweepRoom: (lane: Lane | undefined): number => {
      if (lane === undefined) return limits.maxLaneSwept;
      if (lane.held < limits.maxLaneSwept && lane.bytes < limits.maxLaneBytes) return limits.maxLaneSwept - lane.held;
      lane.wanted = true;
      return 0;
    },

    /** Maximum number of deliveries that the sweep may claim for one account. */
    accountRoom: (accountId: number): number => (bytes.room(accountId) > 0 ? swept.room(accountId) : 0),
    /** Notes that a delivery was turned away. */
    wantRoom,
    hasBytes: (accountId: number): boolean => bytes.room(accountId) > 0,

    freeBytes: (): number => Math.max(0, bytes.free()),
    bytes: (): number => limits.maxBytes - bytes.free(),
    held: (): number => held,
  };
}

/**
 * Tracks hosts. `probes` is the number of concurrent first attempts, of different subscriptions, to a host that does not respond.
 *
 * Many callback URLs on one hanging host are one problem, not many. A path that hangs while others respond is only its own problem. So a
 * failure counts when the host has not responded since that push began, and the breaker opens when as many different subscriptions failed
 * so as a breaker of one subscription needs failures.
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
        respondedAtMs: Number.NEGATIVE_INFINITY,
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
     * Returns the state of first attempts: by the outcomes of the subscription's own pushes, and of those of its account to the same host.
     * A subscription without recent failures may work, whatever the others' outcomes are, so it is tried during pauses too.
     */
    stateOf: ({ host, breaker, firstsInFlight }: Lane, nowMs: number): BreakerState => {
      const own = breaker.state(nowMs);
      if (own === 'open') return own;
      const shared = host.breaker.state(nowMs);
      if (shared === 'closed') return own;
      if (shared === 'open' && !breaker.isClean()) return shared;
      return probing(host.firstsInFlight - firstsInFlight);
    },

    /** Returns the state for a subscription that is not in memory. */
    stateOfNew: (accountId: number, name: string, nowMs: number): BreakerState => {
      const host = hosts.get(keyOf(accountId, name));
      return host === undefined || host.breaker.state(nowMs) === 'closed' ? 'closed' : probing(host.firstsInFlight);
    },

    /** Returns until when first attempts that are not allowed now are parked. */
    parkedUntilMs: ({ host, breaker }: Lane, nowMs: number): number => {
      const untilMs = Math.max(breaker.openUntilMs(), breaker.isClean() ? 0 : host.breaker.openUntilMs());
      return untilMs > nowMs ? untilMs : nowMs + options.shortestParkMs;
    },

    /** A push hung or got no connection. True: first attempts to this host are parked from now on. */
    fail: ({ host, subscriptionId }: Lane, startedMs: number, nowMs: number): boolean => {
      if (host.respondedAtMs >= startedMs) return false;
      if (host.suspects.size < options.hardFailures) host.suspects.add(subscriptionId);
      return host.suspects.size >= options.hardFailures && host.breaker.fail(nowMs, true);
    },

    /**
     * Records a response, or an immediate end, of a push.
     * @returns true if first attempts to this host were held back until now
     */
    succeed: (host: Host, nowMs: number): boolean => {
      host.respondedAtMs = nowMs;
      host.suspects.clear();
      return host.breaker.succeed();
    },
  };
}
