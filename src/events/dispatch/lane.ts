import { createFifo, type Fifo } from '../fairness.ts';
import { type DeliveryLease, isRetry } from '../lease.ts';
import { type Breaker, type BreakerOptions, createBreaker } from './breaker.ts';
import { createRate, type Rate } from './rate.ts';

/** Key of a lane. */
export type LaneKey = Pick<DeliveryLease, 'accountId' | 'subscriptionId' | 'host' | 'maxPerSecond'>;

/** Deliveries in memory for one subscription. */
export interface Lane {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly host: Host;
  readonly firsts: Fifo<DeliveryLease>;
  readonly retries: Fifo<DeliveryLease>;
  readonly breaker: Breaker;
  readonly concurrency: Concurrency;
  /** Number of deliveries that are reserved, queued or in flight. */
  held: number;
  bytes: number;
  inFlight: number;
  firstsInFlight: number;
  /** Whether a retry is next. It changes with each push, so that neither kind starves the other. */
  retryIsNext: boolean;
  /** Whether a delivery was turned away and waits for room. */
  wanted: boolean;
  /** Whether the lane is in the queue of lanes whose retries wait for those of others. */
  retriesBlocked: boolean;
  /** Whether the lane is in the queue of lanes that may push. */
  ready: boolean;
  /** Maximum number of pushes per second. Undefined: no limit. */
  maxPerSecond: number | undefined;
  /** The times at which the rate allows pushes. */
  readonly rate: Rate;
  /** Whether further times were requested. */
  isReserving: boolean;
}

/** A host that one account calls. Calls of other accounts to the same host do not count. */
export interface Host {
  readonly accountId: number;
  readonly name: string;
  readonly breaker: Breaker;
  readonly lanes: Set<Lane>;
  /** Subscriptions whose pushes hung or got no connection since the last response of the host. At most as many as open the breaker. */
  readonly suspects: Set<number>;
  respondedAtMs: number;
  firstsInFlight: number;
}

/** Limits of one lane. */
export interface LaneOptions {
  readonly laneConcurrency: number;
  readonly maxLaneConcurrency: number;
  readonly quickPushMs: number;
  readonly breaker: BreakerOptions;
}

export function createLane(key: Pick<Lane, 'accountId' | 'subscriptionId' | 'host'>, limits: LaneOptions): Lane {
  return {
    ...key,
    concurrency: createConcurrency({
      least: limits.laneConcurrency,
      most: limits.maxLaneConcurrency,
      quickMs: limits.quickPushMs,
    }),
    firsts: createFifo(),
    retries: createFifo(),
    breaker: createBreaker(limits.breaker),
    held: 0,
    bytes: 0,
    inFlight: 0,
    firstsInFlight: 0,
    retryIsNext: false,
    wanted: false,
    retriesBlocked: false,
    ready: false,
    maxPerSecond: undefined,
    rate: createRate(),
    isReserving: false,
  };
}

/** Appends a lease to the queue of its kind: first attempts or retries. */
export function queueLease(lane: Lane, lease: DeliveryLease): void {
  (isRetry(lease) ? lane.retries : lane.firsts).push(lease);
}

interface ConcurrencyOptions {
  /** Number of concurrent pushes at the start and after a failure. */
  readonly least: number;
  readonly most: number;
  /** Maximum duration in milliseconds of a success that raises the number of concurrent pushes. */
  readonly quickMs: number;
}

/** Number of concurrent pushes to one receiver. */
export type Concurrency = ReturnType<typeof createConcurrency>;

/**
 * Creates a limit of concurrent pushes. It grows by one with each round of quick successes under full use, as long as the receiver keeps
 * up. It shrinks by one with each slow success, so that a busy receiver holds few slots, and drops at once when a push fails.
 */
export function createConcurrency({ least, most, quickMs }: ConcurrencyOptions) {
  const top = Math.max(least, most);
  let limit = least;
  let quick = 0;

  function change(by: 1 | -1): void {
    limit = Math.min(top, Math.max(least, limit + by));
    quick = 0;
  }

  return {
    limit: () => limit,
    /** `wasFull` is true if as many pushes were in flight as the limit allows. Fewer prove nothing about a higher limit. */
    succeed: (durationMs: number, wasFull: boolean) => {
      if (durationMs > quickMs) return change(-1);
      if (!wasFull) return;
      quick++;
      if (quick >= limit) change(1);
    },
    fail: () => {
      limit = least;
      quick = 0;
    },
  };
}
