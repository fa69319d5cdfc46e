import type { Clock } from '../clock.ts';

/** A handler's decision about its job, as a value. A handler that throws is treated as `retry`, and the error is logged. */
export type JobOutcome =
  | { readonly kind: 'done' }
  /** Try again by the queue's retry policy; an attempt is used. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** Not now: run again after `ms` without using an attempt. */
  | { readonly kind: 'later'; readonly ms: number }
  /** Trying again is pointless. The job stays visible as failed, with the reason. */
  | { readonly kind: 'dead'; readonly reason: string };

export interface Job {
  readonly id: string;
  /** Data as it was sent. The handler must check its type. */
  readonly data: unknown;
  /** Number of the attempt, from 1. `later` does not count as an attempt. */
  readonly attempt: number;
  /** Aborts when the job exceeds its time or the process stops. */
  readonly signal: AbortSignal;
}

/** Delay before attempt n+1: `delaySeconds` doubled n-1 times with jitter, at most `maxDelaySeconds`. */
interface RetryPolicy {
  readonly limit: number;
  readonly delaySeconds: number;
  readonly maxDelaySeconds: number;
}

export interface Queue {
  readonly handle: (job: Job) => Promise<JobOutcome>;
  readonly retry: RetryPolicy;
  /** Cron expression of five fields, in UTC. Each time creates one job, however many processes run. */
  readonly schedule?: string;
  /** Seconds after which the job fails and its signal aborts. Default 900. */
  readonly timeoutSeconds?: number;
  /** Maximum number of jobs that one process runs at a time. Default 1. */
  readonly concurrency?: number;
  /** Seconds between two reads of new jobs. Default 2. */
  readonly pollingSeconds?: number;
}

/** The work that the scheduled jobs do. */
export interface Maintenance {
  /**
   * Deletes records that were created before the given time.
   * @returns the number of deleted rows
   */
  readonly purgeIdempotencyRecords: (before: Date) => Promise<number>;
  readonly purgeProxyTargets: (before: Date) => Promise<number>;
  readonly purgeAuthorizations: (before: Date) => Promise<number>;
  /** Deletes sessions of the console and tries to log in that were over at the given time, and invitations that ended long before. */
  readonly purgeLogIns: (at: Date) => Promise<number>;
  /** Deletes connect sessions that had ended before the given time. */
  readonly purgeConnectSessions: (before: Date) => Promise<number>;
  /** Deletes the departures of connect sessions. */
  readonly purgeConnectDepartures: (before: Date) => Promise<number>;
  /**
   * Refreshes the OAuth tokens that expire soon.
   * @returns the number of refreshed tokens
   */
  readonly refreshTokens: (signal: AbortSignal) => Promise<number>;
  /** Creates partitions of events, and deletes events after the retention period. */
  readonly keepEvents: (signal: AbortSignal) => Promise<void>;
  /** Creates partitions of the audit log, and deletes entries after the retention period. */
  readonly keepAuditLog: (signal: AbortSignal) => Promise<void>;
  /** Creates partitions of activity, and deletes entries after the retention period. */
  readonly keepActivity: () => Promise<void>;
  /**
   * Creates the pollers that the settings of instances require, and removes others.
   * @returns number of corrected instances
   */
  readonly keepPolls: (signal: AbortSignal) => Promise<number>;
  /**
   * Chooses the watched objects of instances whose polls, mappings or formulas changed.
   * @returns number of corrected instances
   */
  readonly keepSchemas: (signal: AbortSignal) => Promise<number>;
  /** Deletes shared rate limits that no process had used for long at the given time. */
  readonly purgeRateBudgets: (before: Date) => Promise<number>;
  /** Deletes changes of watched objects that were found before the given time. */
  readonly purgeSchemaChanges: (before: Date) => Promise<number>;
  /** Creates partitions of bulk jobs, and deletes jobs after the retention period. */
  readonly keepBulk: () => Promise<void>;
  /** Partitions and retention of executions of formulas, and formula instances whose time to live is over. */
  readonly keepFormulas: () => Promise<void>;
  /**
   * Registers webhooks at providers where that is due.
   * @returns number of checked registrations
   */
  readonly keepWebhooks: (signal: AbortSignal) => Promise<number>;
  /**
   * Removes the data of deleted accounts.
   * @returns the number of checked accounts
   */
  readonly removeAccounts: (signal: AbortSignal) => Promise<number>;
}

export type Queues = Readonly<Record<string, Queue>>;

const HOUR_MS = 3_600_000;
const IDEMPOTENCY_MS = 24 * HOUR_MS;
const PROXY_TARGET_MS = 24 * HOUR_MS;
const AUTHORIZATION_MS = HOUR_MS / 4;
const CONNECT_SESSION_MS = 30 * 24 * HOUR_MS;
const SCHEMA_CHANGE_MS = 365 * 24 * HOUR_MS;

/** Creates the table of queues. */
export function createQueues(clock: Clock, maintenance: Maintenance) {
  const { purgeIdempotencyRecords, purgeProxyTargets, purgeAuthorizations, purgeLogIns } = maintenance;
  const { purgeConnectSessions, purgeConnectDepartures } = maintenance;
  const { refreshTokens, keepEvents, keepAuditLog, keepActivity, keepPolls, keepBulk, keepWebhooks, removeAccounts } =
    maintenance;
  const { keepFormulas, keepSchemas, purgeSchemaChanges, purgeRateBudgets } = maintenance;
  const purge = (work: (before: Date) => Promise<number>, keepMs: number, schedule: string) => ({
    schedule,
    retry: { limit: 3, delaySeconds: 60, maxDelaySeconds: 600 },
    pollingSeconds: 30,
    handle: async (): Promise<JobOutcome> => {
      await work(new Date(clock.now() - keepMs));
      return { kind: 'done' };
    },
  });
  const everyHour = (work: (signal: AbortSignal) => Promise<void>, schedule: string) => ({
    schedule,
    retry: { limit: 3, delaySeconds: 60, maxDelaySeconds: 600 },
    timeoutSeconds: 1800,
    pollingSeconds: 30,
    handle: async ({ signal }: Pick<Job, 'signal'>): Promise<JobOutcome> => {
      await work(signal);
      return { kind: 'done' };
    },
  });
  const everyMinute = (work: (signal: AbortSignal) => Promise<unknown>) => ({
    schedule: '* * * * *',
    // The next minute comes anyway.
    retry: { limit: 0, delaySeconds: 0, maxDelaySeconds: 1 },
    timeoutSeconds: 300,
    handle: async ({ signal }: Pick<Job, 'signal'>): Promise<JobOutcome> => {
      await work(signal);
      return { kind: 'done' };
    },
  });
  return {
    'idempotency.purge': purge(purgeIdempotencyRecords, IDEMPOTENCY_MS, '7 * * * *'),
    'oauth.purge-proxy-targets': purge(purgeProxyTargets, PROXY_TARGET_MS, '17 * * * *'),
    'oauth.purge-authorizations': purge(purgeAuthorizations, AUTHORIZATION_MS, '*/15 * * * *'),
    'accounts.purge-log-ins': purge(purgeLogIns, 0, '37 * * * *'),
    'connect.purge-sessions': purge(purgeConnectSessions, CONNECT_SESSION_MS, '3 * * * *'),
    'connect.purge-departures': purge(purgeConnectDepartures, AUTHORIZATION_MS, '*/15 * * * *'),
    'events.upkeep': everyHour(keepEvents, '27 * * * *'),
    'audit.upkeep': everyHour(keepAuditLog, '47 * * * *'),
    'bulk.keep': everyHour(keepBulk, '57 * * * *'),
    'formulas.keep': everyHour(keepFormulas, '43 * * * *'),
    'activity.upkeep': everyHour(keepActivity, '53 * * * *'),
    'polls.keep': everyMinute(keepPolls),
    'schemas.keep': everyMinute(keepSchemas),
    'schemas.purge': purge(purgeSchemaChanges, SCHEMA_CHANGE_MS, '33 * * * *'),
    'rate-budgets.purge': purge(purgeRateBudgets, HOUR_MS, '23 * * * *'),
    'events.webhooks': everyMinute(keepWebhooks),
    'oauth.refresh': everyMinute(refreshTokens),
    'accounts.remove': everyMinute(removeAccounts),
  } satisfies Queues;
}
