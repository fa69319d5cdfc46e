/** What a handler wants next, said by value. A handler that throws is treated as `retry`, and the error is logged. */
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
  /** As it was sent; the handler narrows it. */
  readonly data: unknown;
  /** From 1; `later` does not count. */
  readonly attempt: number;
  /** Aborts when the job runs out of time or the process stops. */
  readonly signal: AbortSignal;
}

/** Delay before attempt n+1: `delaySeconds` doubled n-1 times with jitter, at most `maxDelaySeconds`. */
export interface RetryPolicy {
  readonly limit: number;
  readonly delaySeconds: number;
  readonly maxDelaySeconds: number;
}

export interface Queue {
  readonly handle: (job: Job) => Promise<JobOutcome>;
  readonly retry: RetryPolicy;
  /** Cron expression of five fields, in UTC. One job is made at each time, however many processes run. */
  readonly schedule?: string;
  /** After that the job counts as failed and its signal aborts. Default 900. */
  readonly timeoutSeconds?: number;
  /** Jobs one process runs at a time. Default 1. */
  readonly concurrency?: number;
  /** Time between two looks for new jobs. Default 2. */
  readonly pollingSeconds?: number;
}

/** The work behind the queues, given by app.ts. */
export interface QueueWork {
  /** Deletes what was created before that time and answers how many rows. */
  readonly purgeIdempotencyRecords: (before: Date) => Promise<number>;
  readonly now: () => Date;
}

export type Queues = Readonly<Record<string, Queue>>;

const IDEMPOTENCY_HOURS = 24;
const HOUR_MS = 3_600_000;

/** The table of queues. */
export function createQueues({ purgeIdempotencyRecords, now }: QueueWork) {
  return {
    'idempotency.purge': {
      schedule: '7 * * * *',
      retry: { limit: 3, delaySeconds: 60, maxDelaySeconds: 600 },
      pollingSeconds: 30,
      handle: async () => {
        await purgeIdempotencyRecords(new Date(now().getTime() - IDEMPOTENCY_HOURS * HOUR_MS));
        return { kind: 'done' };
      },
    },
  } satisfies Queues;
}
