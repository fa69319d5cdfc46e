import type { Fifo } from '../fifo.ts';
import type { Lease } from '../lease.ts';
import type { Breaker } from './breaker.ts';
import type { Concurrency } from './concurrency.ts';

/** Whose lane it is. */
export type LaneKey = Pick<Lease, 'accountId' | 'subscriptionId' | 'host'>;

/** What is in memory for one subscription. */
export interface Lane {
  readonly accountId: number;
  readonly subscriptionId: number;
  readonly host: Host;
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

/** A host that one account calls. What other accounts do to the same host is not known here. */
export interface Host {
  readonly accountId: number;
  readonly name: string;
  readonly breaker: Breaker;
  readonly lanes: Set<Lane>;
  /** Subscriptions whose pushes hung, or got no connection, since the host answered last; no more of them than open the breaker. */
  readonly suspects: Set<number>;
  answeredAtMs: number;
  firstsInFlight: number;
}
