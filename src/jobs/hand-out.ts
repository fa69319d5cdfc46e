import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { Clock } from '../clock.ts';
import type { Notifier } from '../db/notifier.ts';
import { every } from '../events/timers.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { BUCKETS, type WorkBuckets } from '../work-buckets.ts';

export interface HandOutPorts {
  readonly boss: Pick<PgBoss, 'createQueue' | 'updateQueue' | 'insert' | 'fetch' | 'touch' | 'fail'>;
  readonly buckets: WorkBuckets;
  /** Counts the living processes that work, this one included. */
  readonly countWorkers: () => Promise<number>;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const QUEUE = 'work';
const TOPIC = 'work';
/** Milliseconds between two heartbeats. */
const BEAT_MS = 4_000;
const SETTINGS = {
  /** Seconds without a heartbeat after which a process loses a bucket. */
  heartbeatSeconds: 12,
  /** pg-boss ends a job after 24 hours at the latest. Its process notices that at the next heartbeat, and somebody takes the job again. */
  expireInSeconds: 24 * 3600 - 1,
  retryLimit: 2 ** 31 - 1,
  retryDelay: 0,
  retryBackoff: false,
};

/** A message to the other processes. */
const MESSAGE = {
  /** A process has too few buckets. Those that have more than their share release some. */
  wanted: 'wanted',
  released: 'released',
  /** A process stops. It is still counted, but takes no more buckets. */
  left: 'left',
} as const;

/** The claim to a job. pg-boss refuses it when another process has fetched the job since. */
type BucketClaim = Pick<JobWithMetadata, 'id' | 'retryCount'>;

/**
 * Hands out the buckets of due work to the processes. There is one job for each bucket in the queue `work`; a process fetches about as many
 * as the others and keeps them active with heartbeats. If a process dies or freezes, pg-boss takes its jobs back, and the others fetch them.
 */
export function createHandOut({ boss, buckets, countWorkers, notifier, metrics, clock, log }: HandOutPorts) {
  const claims = new Map<number, BucketClaim>();
  let working: Promise<void> = Promise.resolve();
  let ends: readonly (() => void | Promise<void>)[] = [];

  metrics.gauge({
    name: 'causeway_work_buckets',
    help: `Parts of the due work in which this process looks, of ${BUCKETS}.`,
    collect: (gauge) => gauge.set(claims.size),
  });

  /** Takes and releases jobs, one thing after the other. A failure is logged, and the next round tries again. */
  function inTurn(step: () => Promise<void>): Promise<void> {
    working = working.then(step).catch((error) => {
      log.warn({ err: error }, 'could not agree with other processes who looks for due work; trying again');
    });
    return working;
  }

  function setBuckets(): void {
    if (claims.size === buckets.held().length && claims.keys().every(buckets.has)) return;
    buckets.set(new Set(claims.keys()));
    log.info({ buckets: claims.size }, `looks for due work in ${claims.size} of ${BUCKETS} parts`);
  }

  /** Keeps the jobs that are still this process's, and forgets the others. It waits for nothing else, so that a busy process keeps them too. */
  async function beat(): Promise<void> {
    const held = [...claims];
    if (held.length === 0) return;
    try {
      const kept = touchedIds(
        await boss.touch(
          QUEUE,
          held.map(([, claim]) => claim),
        ),
      );
      for (const [bucket, claim] of held)
        if (!kept.has(claim.id) && claims.get(bucket) === claim) claims.delete(bucket);
      setBuckets();
    } catch (error) {
      log.warn(
        { err: error },
        'could not store the heartbeat of the due work that this process looks for; trying again',
      );
    }
  }

  async function balance(): Promise<void> {
    await take(await countWorkers());
  }

  /** Fetches free jobs up to the share of one process, and requests more from the others if that is not enough. */
  async function take(workers: number): Promise<void> {
    const missing = Math.ceil(BUCKETS / Math.max(1, workers)) - claims.size;
    if (missing <= 0) return;
    const jobs = await boss.fetch(QUEUE, { batchSize: missing, includeMetadata: true });
    for (const { id, retryCount, singletonKey } of jobs) claims.set(Number(singletonKey), { id, retryCount });
    setBuckets();
    if (claims.size >= Math.floor(BUCKETS / Math.max(1, workers))) return;
    await makeJobs();
    await notifier.publish(TOPIC, MESSAGE.wanted);
  }

  /** Makes the jobs that are missing. One exists for each bucket, at most. */
  async function makeJobs(): Promise<void> {
    await boss.insert(
      QUEUE,
      Array.from({ length: BUCKETS }, (_, bucket) => ({ singletonKey: String(bucket) })),
    );
  }

  /** Releases all jobs but some. */
  async function releaseAllBut(kept: number, message: string): Promise<void> {
    const released = [...claims].slice(kept);
    if (released.length === 0) return;
    for (const [bucket] of released) claims.delete(bucket);
    setBuckets();
    await boss.fail(
      QUEUE,
      released.map(([, claim]) => claim),
      { reason: message },
    );
    await notifier.publish(TOPIC, message);
  }

  function hear(message: string): void {
    void inTurn(async () => {
      const workers = await countWorkers();
      if (message === MESSAGE.wanted) await releaseAllBut(Math.ceil(BUCKETS / workers), MESSAGE.released);
      else await take(message === MESSAGE.left ? workers - 1 : workers);
    });
  }

  return {
    /** Takes the first buckets. */
    start: async (): Promise<void> => {
      await boss.createQueue(QUEUE, { ...SETTINGS, policy: 'exclusive' });
      await boss.updateQueue(QUEUE, SETTINGS);
      await makeJobs();
      ends = [
        notifier.subscribe(TOPIC, hear),
        every(clock, BEAT_MS, beat),
        every(clock, BEAT_MS, () => inTurn(balance)),
      ];
      await inTurn(balance);
    },

    /** Releases the buckets to other processes. */
    stop: async (): Promise<void> => {
      for (const end of ends) await end();
      await inTurn(() => releaseAllBut(0, MESSAGE.left));
    },
  };
}

/** Reads the ids of the jobs whose heartbeat was stored, which the types of pg-boss leave out. */
function touchedIds(response: object): ReadonlySet<unknown> {
  if (!('settled' in response) || !Array.isArray(response.settled))
    throw new Error('pg-boss did not say which heartbeats it stored');
  return new Set(response.settled);
}
