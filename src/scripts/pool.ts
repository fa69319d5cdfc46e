import type { Clock, EndWait } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createPacer, type Pacer } from '../pace.ts';
import { collectDigits, type ExactDigits, restoreDigits } from './digits.ts';
import { parseValue, printValue } from './large-values.ts';
import { charactersOf, type Outcome, type Slice, STOPPED } from './messages.ts';
import type { CpuTime, Sandbox, ScriptCall, ScriptJob, ScriptResult } from './model.ts';
import { startThread, type Thread, type ThreadEnd } from './thread-handle.ts';

/** Limits of all jobs of this process. */
export interface PoolLimits {
  readonly threads: number;
  /** Maximum number of characters of all scripts that wait for a thread or are in one, with the arguments that are printed for it. */
  readonly maxWaiting: number;
  /** Maximum number of these characters for one account. */
  readonly maxWaitingOfOwner: number;
  /** Minimum number of characters that a job counts for, so that the number of small jobs is limited too. */
  readonly minWaiting: number;
  /** Milliseconds without a task after which a thread ends. */
  readonly idleMs: number;
  /** Milliseconds by which one step may exceed the CPU time of a call before its thread is ended. */
  readonly graceMs: number;
  /** Interval at which the progress of a busy thread is checked. */
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

/** Characters of arguments in one message to a thread, beside those of its first call, and calls. What a slice does not reach is sent again. */
const SLICE_INPUT = { characters: 4 * MIB, calls: 250 };
/** Characters of arguments of a call that needs much more memory than others. */
const LARGE_CHARACTERS = MIB;
/** Calls that may take longer are ended with their thread when nobody waits for them. A new thread takes 0.1 s. */
const WORTH_A_THREAD_MS = 1000;
const RETRY_SECONDS = 5;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** A job while it waits or runs. */
interface Task {
  readonly job: ScriptJob;
  /** Pauses as the caller does whose job it is. */
  readonly pacer: Pacer;
  size: number;
  readonly results: (ScriptResult | undefined)[];
  /** Characters of all results so far. */
  characters: number;
  readonly time: CpuTime;
  /** Maximum number of calls of the next slice: twice as many as the last one reached. More would be printed in vain. */
  reach: number;
  isOver: boolean;
  /** The thread that runs a slice of the task now. */
  thread?: Thread;
  readonly succeed: (results: readonly ScriptResult[]) => void;
  readonly fail: (reason: unknown) => void;
}

export interface SandboxPorts {
  readonly clock: Clock;
  readonly limits?: Partial<PoolLimits>;
}

/**
 * Creates a sandbox whose threads start with the first job. Accounts take turns: a job that takes longer than a slice lets the jobs of
 * others run before it continues, and an account has one thread at a time.
 */
export function createSandbox({ clock, limits: given }: SandboxPorts): Sandbox {
  const limits: PoolLimits = { ...LIMITS, ...given };
  /** The first owner is the one whose turn is next. */
  const waiting = new Map<number, Task[]>();
  const busyOwners = new Set<number>();
  const sizes = new Map<number, number>();
  const idle = new Map<Thread, EndWait>();
  const threads = new Set<Thread>();
  const tasks = new Set<Task>();
  let size = 0;
  /** Resolves when no thread handles a large call. */
  let largeTurn: Promise<void> = Promise.resolve();
  let isClosed = false;

  function run(job: ScriptJob): Promise<readonly ScriptResult[]> {
    return new Promise((resolve, reject) => {
      if (isClosed) throw closed();
      job.signal?.throwIfAborted();
      assertNames(job);
      const task: Task = {
        ...{ job, isOver: false, size: Math.max(limits.minWaiting, job.body.length), characters: 0 },
        pacer: createPacer(job.signal ?? NEVER),
        time: job.time ?? { leftMs: job.limits.batchMs },
        reach: SLICE_INPUT.calls,
        results: new Array<ScriptResult | undefined>(job.calls.length).fill(undefined),
        succeed: (results) => end(task, giveUp, () => resolve(results)),
        fail: (reason) => end(task, giveUp, () => reject(reason)),
      };
      const giveUp = () => {
        task.fail(job.signal?.reason);
        if (job.limits.recordMs > WORTH_A_THREAD_MS) void task.thread?.close();
      };
      assertRoom(task);
      job.signal?.addEventListener('abort', giveUp, { once: true });
      tasks.add(task);
      count(task, task.size);
      enqueue(task);
      startNext();
    });
  }

  function assertRoom({ job: { owner }, size: own }: Task): void {
    if (size + own <= limits.maxWaiting && (sizes.get(owner) ?? 0) + own <= limits.maxWaitingOfOwner) return;
    throw new AppError('OVERLOADED', `Too many records are waiting for scripts. Try again in ${RETRY_SECONDS} s.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  function count({ job: { owner } }: Task, change: number): void {
    size += change;
    const left = (sizes.get(owner) ?? 0) + change;
    if (left === 0) sizes.delete(owner);
    else sizes.set(owner, left);
  }

  function end(task: Task, giveUp: () => void, respond: () => void): void {
    if (task.isOver) return;
    task.isOver = true;
    task.job.signal?.removeEventListener('abort', giveUp);
    tasks.delete(task);
    count(task, -task.size);
    remove(task);
    respond();
  }

  function enqueue(task: Task): void {
    const { owner } = task.job;
    waiting.set(owner, [...(waiting.get(owner) ?? []), task]);
  }

  function remove(task: Task): void {
    const { owner } = task.job;
    const left = (waiting.get(owner) ?? []).filter((other) => other !== task);
    if (left.length === 0) waiting.delete(owner);
    else waiting.set(owner, left);
  }

  /** Removes and returns the next task of an owner who has no thread. The owner is last in the next round. */
  function takeNext(): Task | undefined {
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
      const task = takeNext();
      if (task === undefined) return;
      busyOwners.add(task.job.owner);
      void runSlice(task);
    }
  }

  async function runSlice(task: Task): Promise<void> {
    try {
      const chosen = await chooseCalls(task);
      if (chosen.length > 0 && !task.isOver) await runCalls(task, chosen);
    } catch (error) {
      // The caller hung up, or a value cannot be printed.
      task.fail(error);
    }
    busyOwners.delete(task.job.owner);
    finish(task);
    startNext();
  }

  async function runCalls(task: Task, chosen: readonly ChosenCall[]): Promise<void> {
    const printed = chosen.reduce((sum, { texts }) => sum + charactersOf(texts), 0);
    count(task, printed);
    const isLarge = chosen.some(({ texts }) => charactersOf(texts) > LARGE_CHARACTERS);
    const ended = await (isLarge ? inLargeTurn(() => runInThread(task, chosen)) : runInThread(task, chosen));
    count(task, -printed);
    if (ended !== undefined && !task.isOver) await settle(task, chosen, ended);
  }

  /** Runs calls of a task in a thread. Returns undefined if the task is over. */
  async function runInThread(task: Task, chosen: readonly ChosenCall[]): Promise<ThreadEnd | undefined> {
    if (task.isOver) return undefined;
    const thread = takeThread();
    task.thread = thread;
    const ended = await thread.run(toSlice(task, chosen));
    delete task.thread;
    if (ended.kind === 'done' && thread.isUsable()) keepThread(thread);
    else await closeThread(thread);
    return ended;
  }

  /** Lets one thread at a time handle a large call, which may need 300 MB. */
  async function inLargeTurn<Result>(handle: () => Promise<Result>): Promise<Result> {
    const before = largeTurn;
    const turn = Promise.withResolvers<void>();
    largeTurn = turn.promise;
    await before;
    try {
      return await handle();
    } finally {
      turn.resolve();
    }
  }

  function finish(task: Task): void {
    if (task.isOver) return;
    const known = firstResults(task);
    const { enoughCharacters = Number.POSITIVE_INFINITY } = task.job;
    const isEnough = known.length > 0 && task.characters >= enoughCharacters;
    if (known.length === task.results.length || isEnough) task.succeed(known);
    else {
      // Before the other jobs of the owner, whose turn comes after those of all other owners.
      const { owner } = task.job;
      const others = waiting.get(owner) ?? [];
      waiting.delete(owner);
      waiting.set(owner, [task, ...others]);
    }
  }

  function takeThread(): Thread {
    for (const [thread, endWait] of idle) {
      endWait();
      idle.delete(thread);
      if (thread.isUsable()) return thread;
      threads.delete(thread);
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
    for (const task of tasks) task.fail(closed());
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

const NEVER = new AbortController().signal;

/** A call that is to run, with its arguments as JSON. */
interface ChosenCall {
  readonly index: number;
  readonly texts: readonly string[];
  readonly digits: ExactDigits;
}

/** Returns the next calls without a result, as many as one message takes. A call whose arguments are too large fails here. */
async function chooseCalls(task: Task): Promise<readonly ChosenCall[]> {
  const { job, results, pacer, reach } = task;
  const chosen: ChosenCall[] = [];
  let characters = 0;
  for (const [index, call] of job.calls.entries()) {
    if (results[index] !== undefined) continue;
    if (chosen.length === reach || characters > SLICE_INPUT.characters) break;
    const texts = await printArguments(job, call, pacer);
    if (typeof texts === 'string') setResult(task, index, { kind: 'failed', reason: texts, console: [] });
    else {
      characters += charactersOf(texts);
      chosen.push({ index, texts, digits: await collectDigits(Object.values(call.values), pacer) });
    }
    if (pacer.isDue()) await pacer.pause();
    if (task.isOver) return [];
  }
  return chosen;
}

/** Returns the arguments of a call as JSON, or the reason why there is no room for them. */
async function printArguments(
  { parameters, limits: { valueBytes } }: ScriptJob,
  { values }: ScriptCall,
  pacer: Pacer,
): Promise<readonly string[] | string> {
  const texts: string[] = [];
  for (const name of parameters) {
    const text = await printValue(values[name] ?? null, valueBytes, pacer);
    if (text === undefined) return `${name} has more than ${valueBytes} bytes of JSON, the maximum for a script`;
    texts.push(text);
  }
  return texts;
}

function toSlice({ job, time }: Task, chosen: readonly ChosenCall[]): Slice {
  const { owner, body, parameters, limits } = job;
  return {
    ...{ owner, body, parameters, limits },
    mutable: parameters.map((name) => job.mutable.includes(name)),
    calls: chosen.map(({ texts }) => texts),
    batchLeftMs: time.leftMs,
  };
}

async function settle(task: Task, chosen: readonly ChosenCall[], ended: ThreadEnd): Promise<void> {
  const { limits } = task.job;
  if (ended.kind === 'broken') task.fail(ended.error);
  if (ended.kind === 'done') {
    task.time.leftMs -= ended.result.cpuMs;
    task.reach = Math.min(SLICE_INPUT.calls, Math.max(1, 2 * ended.result.outcomes.length));
    await keepResults(task, chosen, ended.result.outcomes);
  }
  if (ended.kind !== 'ended') return;
  // The calls before this one run again, because their results are lost with the thread.
  task.time.leftMs -= limits.recordMs;
  const reason = STOPPED[ended.reason](limits);
  const isForAll = ended.call < 0;
  for (const [at, { index }] of chosen.entries())
    if (isForAll || at === ended.call) setResult(task, index, { kind: 'failed', reason, console: [] });
  if (task.time.leftMs > 0) return;
  for (const index of task.results.keys())
    if (task.results[index] === undefined)
      setResult(task, index, { kind: 'failed', reason: STOPPED.batchTime(limits), console: [] });
}

async function keepResults(task: Task, chosen: readonly ChosenCall[], outcomes: readonly Outcome[]): Promise<void> {
  const { pacer } = task;
  pacer.begin();
  for (const [at, outcome] of outcomes.entries()) {
    const call = chosen[at];
    if (call === undefined) return;
    if (pacer.isDue()) await pacer.pause();
    setResult(task, call.index, await toResult(outcome, call, pacer));
    if (outcome.kind === 'done') task.characters += outcome.json?.length ?? 0;
  }
}

function setResult({ results }: Task, index: number, result: ScriptResult): void {
  results[index] = result;
}

/** Returns the results of the first calls, up to the first one without a result. */
function firstResults({ results }: Task): readonly ScriptResult[] {
  const end = results.indexOf(undefined);
  return results.slice(0, end < 0 ? results.length : end).filter((result) => result !== undefined);
}

async function toResult(outcome: Outcome, { digits }: ChosenCall, pacer: Pacer): Promise<ScriptResult> {
  if (outcome.kind !== 'done') return outcome;
  const { json, ...rest } = outcome;
  if (json === undefined) return rest;
  return { ...rest, value: restoreDigits(await parseValue(json, pacer), digits) };
}
