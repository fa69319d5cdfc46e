import type { BreakerOptions } from './dispatch/breaker.ts';
import { SCHEDULES } from './push/schedule.ts';

/** Every limit of the engine. Tests and measurements change them; operators have no need to. */
export const DEFAULT_OPTIONS = {
  /** Time limit of one push, from waiting for a connection to the end of the response. */
  attemptTimeoutMs: 15_000,
  /** Part of a response that is stored; the rest is not read. */
  maxResponseBytes: 4096,
  schedules: SCHEDULES,

  /** Maximum number of events in one statement that stores accepted events. A call with more has a statement of its own. */
  acceptBatchRows: 500,
  /**
   * Maximum size of the events of such a statement. A call with more has a statement of its own, so that the memory of a statement is
   * bounded.
   */
  acceptBatchBytes: 1024 * 1024,
  acceptsInFlight: 2,
  /** Maximum time in which the accounts of a statement are stored one by one, after it failed because a node of the database is lost. */
  acceptApartMs: 1_000,
  /** Maximum number of events that wait to be stored. Further calls are rejected as OVERLOADED. */
  maxPendingAccepts: 20_000,
  maxPendingAcceptBytes: 64 * 1024 * 1024,

  /**
   * Maximum number of concurrent pushes of this process. Retries use at most half of them, and subscriptions beyond their `laneConcurrency`
   * a quarter. One account gets a share of these and of all other common limits, half if it is alone; see `createPool`.
   */
  concurrency: 1_024,
  /**
   * Number of concurrent pushes to one subscription, at the start and after a failure. It grows to the maximum while the receiver is quick.
   */
  laneConcurrency: 8,
  maxLaneConcurrency: 64,
  quickPushMs: 250,
  /** Maximum number of deliveries of one subscription in memory. More are stored and loaded by the sweep. */
  maxLaneDeliveries: 10_000,
  maxLaneBytes: 16 * 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
  /** Maximum number of deliveries that the sweep loads: in all, of which one account alone gets half, and per subscription. */
  maxSwept: 10_000,
  maxLaneSwept: 1_000,
  /** Maximum number of idle subscriptions per account in memory. Only the results of their last pushes are kept. */
  maxIdleLanes: 1_000,
  breaker: { failures: 5, hardFailures: 3, shortestParkMs: 5_000, longestParkMs: 60_000 } satisfies BreakerOptions,

  outcomeBatchRows: 500,
  outcomeDelayMs: 5,
  outcomesInFlight: 2,
  /** Maximum number of outcomes that wait to be stored. Above it, no push starts. */
  maxPendingOutcomes: 5_000,
  /** Maximum time for aborted pushes to end when the process stops. */
  abortMs: 1_000,
  /** Maximum time to store the last outcomes when the process stops. */
  outcomeDrainMs: 5_000,
  /** Time between two attempts to store outcomes while the database is unavailable. It grows from the first to the last value. */
  storeRetryMs: { shortest: 50, longest: 2_000 },

  /** Number of deliveries that one statement claims. It also limits the share of each subscription. */
  claimRows: 500,
  minClaimShare: 8,
  /** Maximum number of due deliveries that are read from the earliest on. If there are more, all subscriptions with waiting ones are read. */
  fewDue: 5_000,
  /** Number of subscriptions that one statement reads. */
  visits: 1_000,
  /** Maximum number of subscriptions that are read before deliveries are claimed, so that accounts can take turns. */
  maxVisits: 10_000,
  /** Maximum time in milliseconds between two runs of the sweep, whatever it knows. */
  sweepBackstopMs: 5_000,
  /** Time between two notices to other processes about deliveries that became due. */
  announceMs: 50,

  heartbeatMs: 2_500,
  /** Milliseconds after which a silent process loses its deliveries. */
  silentMs: 10_000,
  takeOverRows: 5_000,
  /** Time between two comparisons of database and memory. */
  auditMs: 15_000,
  /** Minimum age of a delivery that the comparison considers. */
  auditAgeMs: 30_000,
};

export type EngineOptions = Readonly<typeof DEFAULT_OPTIONS>;
