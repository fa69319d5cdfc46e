import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { unusable } from '../define.ts';

/** A text of a provider that a module processes in a thread of its own. */
export interface OffloadJob {
  /** The account for which the job runs. An account has one thread at a time. */
  readonly owner: number;
  readonly module: URL;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** The result of a job. */
export interface Offloaded {
  readonly value: unknown;
  /** The approximate memory of the value in bytes. */
  readonly bytes: number;
}

/**
 * Runs a job.
 * @returns the value that the module returns for the text
 * @throws Error when the module throws, or exceeds its memory or time; AppError OVERLOADED when too many texts wait; the reason of the
 * signal
 */
export type Offload = (job: OffloadJob) => Promise<Offloaded>;

/** Limits of all jobs of this process. */
export interface OffloadLimits {
  readonly threads: number;
  readonly heapMegabytes: number;
  readonly timeoutMs: number;
  readonly maxResultBytes: number;
  /** Maximum number of characters of all texts that wait for a thread. */
  readonly maxWaiting: number;
  /** Maximum number of characters of the waiting texts of one account. */
  readonly maxWaitingOfOwner: number;
  /** Minimum number of characters that a waiting text counts for, so that the number of small texts is limited too. */
  readonly minWaiting: number;
}

const MIB = 1024 * 1024;

/** 8 MB of OData metadata in the form of SAP S/4HANA take 1.2 s and less than 96 MB. */
const LIMITS: OffloadLimits = {
  threads: 2,
  heapMegabytes: 256,
  timeoutMs: 60_000,
  maxResultBytes: 24 * MIB,
  maxWaiting: 64 * MIB,
  maxWaitingOfOwner: 24 * MIB,
  minWaiting: 16 * 1024,
};

/** The input of a thread. */
export interface ThreadData {
  readonly module: string;
  readonly text: string;
  readonly maxResultBytes: number;
}

/** The result that a thread sends. */
export type ThreadMessage =
  | { readonly kind: 'done'; readonly result: Uint8Array }
  | { readonly kind: 'tooLarge'; readonly bytes: number };

interface Waiting {
  readonly job: OffloadJob;
  readonly start: () => void;
}

/**
 * Creates the function that runs jobs. A thread processes one text and ends, so nothing of it is left for the next one. Starting a thread
 * takes less time than a call to a provider.
 */
export function createOffload(clock: Clock, limits: OffloadLimits = LIMITS): Offload {
  const waiting = new Set<Waiting>();
  const busyOwners = new Set<number>();

  async function offload(job: OffloadJob): Promise<Offloaded> {
    await takeSlot(job);
    try {
      job.signal.throwIfAborted();
      return await runInThread(clock, job, limits);
    } finally {
      busyOwners.delete(job.owner);
      startNext();
    }
  }

  async function takeSlot(job: OffloadJob): Promise<void> {
    if (!isFree(job)) await waitForSlot(job);
    busyOwners.add(job.owner);
  }

  function waitForSlot(job: OffloadJob): Promise<void> {
    assertRoom(job);
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(entry);
        job.signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        leave();
        reject(job.signal.reason);
      };
      const start = () => {
        leave();
        // At once, not when the promise settles: the slot belongs to this job.
        busyOwners.add(job.owner);
        resolve();
      };
      const entry = { job, start };
      waiting.add(entry);
      job.signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /**
   * Returns whether the account can start a job. An account has at most one thread, so the number of busy accounts is the number of
   * threads.
   */
  function isFree({ owner }: OffloadJob): boolean {
    return busyOwners.size < limits.threads && !busyOwners.has(owner);
  }

  function startNext(): void {
    for (const entry of waiting) if (isFree(entry.job)) entry.start();
  }

  function assertRoom(job: OffloadJob): void {
    const all = [...waiting].map((entry) => entry.job);
    const own = all.filter(({ owner }) => owner === job.owner);
    if (sizeOf([...all, job]) <= limits.maxWaiting && sizeOf([...own, job]) <= limits.maxWaitingOfOwner) return;
    throw new AppError('OVERLOADED', 'Too many descriptions of services are waiting to be read. Try again in 10 s.', {
      retryAfterSeconds: 10,
    });
  }

  function sizeOf(jobs: readonly OffloadJob[]): number {
    return jobs.reduce((sum, { text }) => sum + Math.max(text.length, limits.minWaiting), 0);
  }

  return offload;
}

function runInThread(clock: Clock, { module, text, signal }: OffloadJob, limits: OffloadLimits): Promise<Offloaded> {
  const { timeoutMs, heapMegabytes, maxResultBytes } = limits;
  const workerData: ThreadData = { module: module.href, text, maxResultBytes };
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  });
  worker.unref();
  const { promise, resolve, reject } = Promise.withResolvers<Offloaded>();
  const endWait = clock.after(timeoutMs, () => reject(beyond(`more than ${timeoutMs / 1000} s`)));
  const giveUp = () => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  worker.once('message', (message: ThreadMessage) => {
    if (message.kind === 'done') resolve({ value: deserialize(message.result), bytes: message.result.byteLength });
    else
      reject(
        unusable(`The description of the service becomes ${message.bytes} bytes; the maximum is ${maxResultBytes}.`),
      );
  });
  worker.once('error', (error) => reject(isOutOfMemory(error) ? beyond(`more than ${heapMegabytes} MB`) : error));
  worker.once('exit', (code) => reject(new Error(`The thread ended with ${code} and without a result.`)));
  return promise.finally(() => {
    endWait();
    signal.removeEventListener('abort', giveUp);
    return worker.terminate();
  });
}

function beyond(what: string): Error {
  return unusable(`It takes ${what} to read the description of the service.`);
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
