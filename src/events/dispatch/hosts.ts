import { type BreakerOptions, type BreakerState, createBreaker } from './breaker.ts';
import type { Host, Lane } from './lane.ts';

export type Hosts = ReturnType<typeof createHosts>;

/**
 * `probes`: first attempts at a time to a host that does not answer, of different subscriptions.
 *
 * Many callback URLs on one host that hangs are one trouble, not many. A path that hangs while others answer is only its own: a failure
 * counts when nothing was answered since that push began, and the breaker opens when as many different subscriptions failed so as
 * a breaker of one takes failures.
 */
export function createHosts(options: BreakerOptions, probes: number) {
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
