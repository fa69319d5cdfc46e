import type { Clock, EndWait } from '../clock.ts';
import { AppError } from '../errors.ts';
import { collectDigits, type ExactDigits, restoreDigits } from './digits.ts';
import { type Outcome, type Slice, STOPPED } from './messages.ts';
import type { Sandbox, ScriptJob, ScriptResult } from './model.ts';
import { startThread, type Thread, type ThreadEnd } from './thread-handle.ts';

/** Limits of all jobs of this process. */
export interface PoolLimits {
  readonly threads: number;
  /** Maximum number of characters of all arguments and scripts that wait for a thread or are in one. */
  readonly maxWaiting: number;
  /** The same for one account. */
  readonly maxWaitingOfOwner: number;
  /** Minimum number of characters that a job counts for, so that the number of small jobs is limited too. */
  readonly minWaiting: number;
  /** A thread without work ends after this time. */
  readonly idleMs: number;
  /** How long one step may exceed the CPU time of a call before its thread is ended. */
  readonly graceMs: number;
  /** How often the progress of a busy thread is looked at. */
  readonly checkMs: number;
}

const MIB = 1024 * 1024;

const LIMITS: PoolLimits = {
  threads: 2,
  maxWaiting: 128 * MIB,
  maxWaitingOfOwner: 32 * MIB,
  minWaiting: 64 * 1024,
  idleMs: 60_000,
  graceMs: 250,
  checkMs: 200,
};

/** Characters of arguments in one message to a thread, and calls. What a slice does not reach is sent again. */
const SLICE_INPUT = { characters: 4 * MIB, calls: 250 };
/** Calls that may take longer are ended with their thread when nobody waits for them. A new thread takes 0.1 s. */
const WORTH_A_THREAD_MS = 1000;
const RETRY_SECONDS = 5;
const NAME = /^[A-Za-z_$][\w$]*$/;

interface Work {
  readonly job: ScriptJob;
  readonly digits: ExactDigits;
  /** The arguments of each call as JSON. */
  readonly texts: readonly string[];
  readonly size: number;
  readonly results: (ScriptResult | undefined)[];
  /** The CPU time that is used up. */
  spentMs: number;
  isOver: boolean;
  /** The thread that runs a slice of it. */
  thread?: Thread;
  readonly succeed: (results: readonly ScriptResult[]) => void;
  readonly fail: (reason: unknown) => void;
}

export interface SandboxPorts {
  readonly clock: Pick<Clock, 'after'>;
  readonly limits?: Partial<PoolLimits>;
}

/**
 * Creates a sandbox whose threads start with the first job. Accounts take turns: a job that takes longer than a slice lets the jobs of
 * others run before it goes on, and an account has one thread at a time.
 */
export function createSandbox({ clock, limits: given }: SandboxPorts): Sandbox {
  const limits: PoolLimits = { ...LIMITS, ...given };
  /** The first owner is the one whose turn is next. */
  const waiting = new Map<number, Work[]>();
  const busyOwners = new Set<number>();
  const sizes = new Map<number, number>();
  const idle = new Map<Thread, EndWait>();
  const threads = new Set<Thread>();
  const underWay = new Set<Work>();
  let size = 0;
  let isClosed = false;

  function run(job: ScriptJob): Promise<readonly ScriptResult[]> {
    return new Promise((resolve, reject) => {
      if (isClosed) throw closed();
      job.signal?.throwIfAborted();
      assertNames(job);
      const texts = job.calls.map(({ values }) => JSON.stringify(job.parameters.map((name) => values[name] ?? null)));
      const work: Work = {
        ...{ job, texts, spentMs: 0, isOver: false, size: sizeOf(job, texts) },
        digits: collectDigits(job.calls),
        results: new Array<ScriptResult | undefined>(texts.length).fill(undefined),
        succeed: (results) => end(work, giveUp, () => resolve(results)),
        fail: (reason) => end(work, giveUp, () => reject(reason)),
      };
      const giveUp = () => {
        work.fail(job.signal?.reason);
        if (job.limits.recordMs > WORTH_A_THREAD_MS) void work.thread?.close();
      };
      assertRoom(work);
      job.signal?.addEventListener('abort', giveUp, { once: true });
      underWay.add(work);
      count(work, work.size);
      enqueue(work);
      startNext();
    });
  }

  function sizeOf({ body }: ScriptJob, texts: readonly string[]): number {
    return Math.max(limits.minWaiting, body.length + texts.reduce((sum, text) => sum + text.length, 0));
  }

  function assertRoom({ job: { owner }, size: own }: Work): void {
    if (size + own <= limits.maxWaiting && (sizes.get(owner) ?? 0) + own <= limits.maxWaitingOfOwner) return;
    throw new AppError('OVERLOADED', `Too many records are waiting for scripts. Try again in ${RETRY_SECONDS} s.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  function count({ job: { owner } }: Work, change: number): void {
    size += change;
    const left = (sizes.get(owner) ?? 0) + change;
    if (left === 0) sizes.delete(owner);
    else sizes.set(owner, left);
  }

  function end(work: Work, giveUp: () => void, tell: () => void): void {
    if (work.isOver) return;
    work.isOver = true;
    work.job.signal?.removeEventListener('abort', giveUp);
    underWay.delete(work);
    count(work, -work.size);
    remove(work);
    tell();
  }

  function enqueue(work: Work): void {
    const { owner } = work.job;
    waiting.set(owner, [...(waiting.get(owner) ?? []), work]);
  }

  function remove(work: Work): void {
    const { owner } = work.job;
    const left = (waiting.get(owner) ?? []).filter((other) => other !== work);
    if (left.length === 0) waiting.delete(owner);
    else waiting.set(owner, left);
  }

  /** Takes the next work of an owner who has no thread. He is last in the next round. */
  function takeNext(): Work | undefined {
    for (const [owner, [first, ...others]] of waiting) {
      if (busyOwners.has(owner) || first === undefined) continue;
      waiting.delete(owner);
      if (others.length > 0) waiting.set(owner, others);
      return first;
    }
    return undefined;
  }

  function startNext(): void {
    while (busyOwners.size < limits.threads) {
      const work = takeNext();
      if (work === undefined) return;
      busyOwners.add(work.job.owner);
      void runSlice(work);
    }
  }

  async function runSlice(work: Work): Promise<void> {
    const thread = takeThread();
    work.thread = thread;
    const indices = chooseCalls(work);
    const how = await thread.run(toSlice(work, indices));
    delete work.thread;
    if (how.kind === 'done') keepThread(thread);
    else await closeThread(thread);
    busyOwners.delete(work.job.owner);
    if (!work.isOver) {
      settle(work, indices, how);
      finish(work);
    }
    startNext();
  }

  function finish(work: Work): void {
    if (work.isOver) return;
    const results = work.results.filter((result) => result !== undefined);
    if (results.length === work.results.length) work.succeed(results);
    else {
      // Before the other jobs of the owner, whose turn comes after those of all other owners.
      const { owner } = work.job;
      const others = waiting.get(owner) ?? [];
      waiting.delete(owner);
      waiting.set(owner, [work, ...others]);
    }
  }

  function takeThread(): Thread {
    for (const [thread, endWait] of idle) {
      endWait();
      idle.delete(thread);
      return thread;
    }
    const thread = startThread({ clock, graceMs: limits.graceMs, checkMs: limits.checkMs });
    threads.add(thread);
    return thread;
  }

  function keepThread(thread: Thread): void {
    if (isClosed) return;
    idle.set(
      thread,
      clock.after(limits.idleMs, () => {
        idle.delete(thread);
        void closeThread(thread);
      }),
    );
  }

  async function closeThread(thread: Thread): Promise<void> {
    await thread.close();
    threads.delete(thread);
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const endWait of idle.values()) endWait();
    idle.clear();
    for (const work of underWay) work.fail(closed());
    await Promise.all([...threads].map(closeThread));
  }

  return { run, close };
}

function closed(): AppError {
  return new AppError('OVERLOADED', 'The service is stopping and runs no more scripts. Try again in a moment.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** The names become part of the code. */
function assertNames({ parameters }: ScriptJob): void {
  const wrong = parameters.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw new Error(`'${wrong}' cannot be the name of a parameter of a script.`);
}

/** Returns the next calls without a result, as many as one message takes. */
function chooseCalls({ texts, results }: Work): readonly number[] {
  const chosen: number[] = [];
  let characters = 0;
  for (const [index, text] of texts.entries()) {
    if (results[index] !== undefined) continue;
    characters += text.length;
    if (chosen.length > 0 && (characters > SLICE_INPUT.characters || chosen.length === SLICE_INPUT.calls)) break;
    chosen.push(index);
  }
  return chosen;
}

function toSlice({ job, texts, spentMs }: Work, indices: readonly number[]): Slice {
  const { body, parameters, limits } = job;
  return {
    ...{ body, parameters, limits },
    mutable: parameters.map((name) => job.mutable.includes(name)),
    calls: indices.map((index) => texts[index] ?? ''),
    batchLeftMs: limits.batchMs - spentMs,
  };
}

function settle(work: Work, indices: readonly number[], how: ThreadEnd): void {
  const { limits } = work.job;
  if (how.kind === 'broken') work.fail(how.error);
  if (how.kind === 'done') {
    work.spentMs += how.result.cpuMs;
    for (const [at, outcome] of how.result.outcomes.entries()) setResult(work, indices[at], toResult(outcome, work));
  }
  if (how.kind !== 'ended') return;
  // The calls before this one run again, because their results are lost with the thread.
  work.spentMs += limits.recordMs;
  const reason = STOPPED[how.reason](limits);
  const isForAll = how.call < 0;
  for (const [at, index] of indices.entries())
    if (isForAll || at === how.call) setResult(work, index, { kind: 'failed', reason, console: [] });
  if (work.spentMs < limits.batchMs) return;
  for (const index of work.results.keys())
    if (work.results[index] === undefined)
      setResult(work, index, { kind: 'failed', reason: STOPPED.batchTime(limits), console: [] });
}

function setResult({ results }: Work, index: number | undefined, result: ScriptResult): void {
  if (index !== undefined) results[index] = result;
}

function toResult(outcome: Outcome, { digits }: Work): ScriptResult {
  if (outcome.kind !== 'done') return outcome;
  const { json, ...rest } = outcome;
  return json === undefined ? rest : { ...rest, value: restoreDigits(JSON.parse(json), digits) };
}
