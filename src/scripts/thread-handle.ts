import { Worker } from 'node:worker_threads';
import type { Clock, EndWait } from '../clock.ts';
import {
  charactersOf,
  PREPARING,
  readProgress,
  type ScriptThreadData,
  type Slice,
  type SliceResult,
  transferMs,
} from './messages.ts';

/** The end of a slice. */
export type ThreadEnd =
  | { readonly kind: 'done'; readonly result: SliceResult }
  /** The thread is gone. `call` is the index of the call that it was running, or -1 when it was compiling the script. */
  | { readonly kind: 'ended'; readonly call: number; readonly reason: 'time' | 'memory' | 'fault' }
  /** The thread ended before it began with the script: the fault is ours. */
  | { readonly kind: 'broken'; readonly error: Error };

/** A thread with an engine. */
export interface Thread {
  /** Runs a slice. The thread runs one at a time, and none after an end that is not `done`. */
  readonly run: (slice: Slice) => Promise<ThreadEnd>;
  /** Whether the thread can run another slice. One that is being ended cannot, even if the result of its last slice still arrived. */
  readonly isUsable: () => boolean;
  readonly close: () => Promise<void>;
}

interface ThreadOptions {
  readonly clock: Clock;
  /** Number of milliseconds by which one step may exceed the CPU time of a call before the thread is ended: QuickJS cannot interrupt every loop in itself. */
  readonly graceMs: number;
  /** Number of milliseconds between two looks at the progress of a thread. */
  readonly checkMs: number;
}

const HEAP_MEGABYTES = 128;
/** Preparing an engine with all libraries takes 0.3 s. */
const PREPARE_MS = 20_000;

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Starts a thread. It gets nothing of the environment of this process but the folder of compiled code. */
export function startThread({ clock, graceMs, checkMs }: ThreadOptions): Thread {
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: ScriptThreadData = { progress };
  const { NODE_COMPILE_CACHE } = process.env;
  const worker = new Worker(new URL('./thread/thread.ts', import.meta.url), {
    workerData,
    env: NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  worker.unref();
  let isUsable = true;
  let settle: ((end: ThreadEnd) => void) | undefined;

  function end(how: ThreadEnd): void {
    settle?.(how);
    settle = undefined;
  }

  function endWithout(error: Error, reason: 'time' | 'memory' | 'fault'): void {
    const step = Atomics.load(progress, 0);
    end(step === PREPARING ? { kind: 'broken', error } : { kind: 'ended', call: readProgress(step).call, reason });
  }

  worker.on('message', (result: SliceResult) => end({ kind: 'done', result }));
  worker.on('error', (error) => endWithout(error, isOutOfMemory(error) ? 'memory' : 'fault'));
  worker.on('exit', (code) => {
    isUsable = false;
    endWithout(new Error(`The thread of scripts ended with ${code}.`), 'fault');
  });

  /** Ends the thread when one step uses more CPU time than it may. */
  function watch(slice: Slice): EndWait {
    let step = -1;
    let beganAt = 0;
    let isWatching = true;
    let endWait: EndWait = () => undefined;
    const check = async (): Promise<void> => {
      const cpu = await worker.cpuUsage().catch(() => undefined);
      if (!isWatching) return;
      if (cpu === undefined) return wait();
      const usedMs = (cpu.user + cpu.system) / 1000;
      const now = Atomics.load(progress, 0);
      if (now !== step) [step, beganAt] = [now, usedMs];
      if (usedMs - beganAt > mostMs(slice, now)) {
        endWithout(new Error('The engine of scripts does not start.'), 'time');
        await worker.terminate();
      } else wait();
    };
    const wait = () => {
      endWait = clock.after(checkMs, check);
    };
    wait();
    return () => {
      isWatching = false;
      endWait();
    };
  }

  /** Returns the CPU time of a step after which the thread is ended. */
  function mostMs({ limits, calls }: Slice, progress: number): number {
    if (progress === PREPARING) return PREPARE_MS;
    const { call, step } = readProgress(progress);
    const transferred = { load: charactersOf(calls[call] ?? []), run: 0, return: limits.valueBytes }[step];
    return limits.recordMs + graceMs + (transferred === 0 ? 0 : transferMs(transferred));
  }

  return {
    run: (slice) => {
      Atomics.store(progress, 0, PREPARING);
      const { promise, resolve } = Promise.withResolvers<ThreadEnd>();
      settle = resolve;
      worker.postMessage(slice);
      const endWatch = watch(slice);
      return promise.finally(endWatch);
    },
    isUsable: () => isUsable,
    close: async () => {
      isUsable = false;
      await worker.terminate();
    },
  };
}
