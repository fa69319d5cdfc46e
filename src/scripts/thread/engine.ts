import { NOTICES, STATES } from '../inside/prelude.ts';
import {
  type CallStep,
  COMPILING,
  charactersOf,
  type Outcome,
  PREPARING,
  progressOf,
  SLICE_CHARACTERS,
  SLICE_MS,
  type Slice,
  type SliceResult,
  STOPPED,
  transferMs,
} from '../messages.ts';
import type { ScriptLimits } from '../model.ts';
import { createConsoleLines } from './console.ts';
import { compileEngine, createGuest, type Guest, GuestTrap, INITIAL_BYTES, type Returned } from './guest.ts';
import { buildImage, extendImage, type Image, resetGuest, restoreImage } from './image.ts';
import { librariesOf } from './libraries.ts';
import { createMails } from './mails.ts';
import { measureJson } from './measure-json.ts';
import { callNative, readTexts } from './natives.ts';

/** Runs slices, one after the other. */
interface ScriptEngine {
  readonly run: (slice: Slice) => Promise<SliceResult>;
}

interface EnginePorts {
  /** The CPU time of this thread in milliseconds. */
  readonly cpuMs: () => number;
  /** Called at the beginning of each step, with the values of `progress`. */
  readonly report: (step: number) => void;
}

/** Jobs of promises that run before the engine looks whether `done` was called. */
const JOBS_AT_ONCE = 64;
/** Maximum depth of results, the same as of the records of a provider. Code that traverses results calls itself for each level. */
const MOST_DEPTH = 200;
/** Memory is fragmented, and the arguments of a call are in it more than once. */
const SPARE = 1.5;
/** Memory for each byte of an argument: its text, and what is parsed of it. */
const ARGUMENT_BYTES = 2;
/** Memory for each byte of a result: its text grows by copies, and is copied once more to be read. */
const RESULT_BYTES = 3;
/** Sizes of arguments are rounded up, so that ordinary slices find a guest of their size. */
const ROOM_UNIT = 4 * 1024 * 1024;

/** Bytes of the images of compiled scripts that a thread keeps. One without libraries takes less than 1 MB. */
const COMPILED_BYTES = 32 * 1024 * 1024;

type Failed = { readonly kind: 'failed'; readonly reason: string };
type Ended = { readonly kind: 'done'; readonly json?: string } | { readonly kind: 'silent' } | Failed;

/** The memory of the guest is no longer consistent. */
type Trapped = { readonly kind: 'trapped'; readonly reason: string };

const failed = (reason: string): Failed => ({ kind: 'failed', reason });

export function createEngine({ cpuMs, report }: EnginePorts): ScriptEngine {
  const engine = compileEngine();
  const images = new Map<string, Image>();
  const lines = createConsoleLines();
  const mails = createMails();
  let deadline = Number.POSITIVE_INFINITY;
  let isOverdue = false;
  /** Compiled scripts, the one that was used last at the end. */
  const compiled = new Map<string, Image>();
  let kept: { readonly guest: Guest; readonly owner: number } | undefined;
  /** Is called when the script calls `done`. */
  let beginReturn = (): void => undefined;

  const host = {
    isOverdue: () => {
      isOverdue ||= cpuMs() >= deadline;
      return isOverdue;
    },
    call: (request: string) => {
      if (request === NOTICES.returning) {
        beginReturn();
        return '';
      }
      if (request.startsWith(NOTICES.returned)) {
        // The engine does not ask for the time while it prints, so what it took can be added afterwards.
        deadline += transferMs(Number(request.slice(NOTICES.returned.length)));
        return '';
      }
      const [name, line = '', ...rest] = readTexts(request);
      if (name === 'log') lines.write(line);
      else if (name === 'email') mails.add({ to: line, subject: rest[0] ?? '', body: rest[1] ?? '' });
      else return callNative(request);
      return '';
    },
  };

  /** Loading a library takes up to 100 ms, so each combination of libraries is loaded once. There are less than 20. */
  async function getImage(libraries: readonly string[]): Promise<Image> {
    const key = libraries.join();
    const known = images.get(key);
    if (known !== undefined) return known;
    limitTime(Number.POSITIVE_INFINITY);
    const image = buildImage(await createGuest(engine, INITIAL_BYTES, host), libraries);
    images.set(key, image);
    return image;
  }

  /**
   * Returns a guest in the state of the image. If it is that of a script, it is restored before each call anyway: then only what another account
   * may have left is removed, because that takes longer than most scripts.
   */
  async function takeGuest(image: Image, { owner, calls, limits }: Slice, isOfScript: boolean): Promise<Guest> {
    const { memoryBytes, valueBytes } = limits;
    const most = Math.max(0, ...calls.map(roomOf));
    const room = Math.ceil(most / ROOM_UNIT) * ROOM_UNIT + RESULT_BYTES * valueBytes;
    const maxBytes = INITIAL_BYTES + SPARE * (memoryBytes + room);
    const known = kept?.guest.maxBytes === maxBytes ? kept : undefined;
    kept = undefined;
    const guest = known?.guest ?? (await createGuest(engine, maxBytes, host));
    if (!isOfScript || known?.owner !== owner) resetGuest(guest, image);
    guest.limitMemory(image.realm, image.size + memoryBytes);
    return guest;
  }

  /** A guest that has grown is not used again, because memory of WebAssembly never shrinks. */
  function keepGuest(guest: Guest, owner: number): void {
    if (guest.memory.buffer.byteLength === INITIAL_BYTES) kept = { guest, owner };
  }

  /** Remembers a compiled script, and forgets those that were not used for the longest time. */
  function keepScript(key: string, script: Image): void {
    compiled.delete(key);
    compiled.set(key, script);
    let bytes = [...compiled.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [oldest, { size }] of compiled) {
      if (bytes <= COMPILED_BYTES) return;
      compiled.delete(oldest);
      bytes -= size;
    }
  }

  function limitTime(ms: number): void {
    isOverdue = false;
    deadline = cpuMs() + ms;
  }

  /** Runs a step of a script and turns all that can happen into an outcome. */
  function guard<Result>(step: () => Result, timeout: string, limits: ScriptLimits): Result | Trapped | Failed {
    try {
      const result = step();
      // Some functions of QuickJS take long without asking.
      return host.isOverdue() ? failed(timeout) : result;
    } catch (error) {
      if (!(error instanceof GuestTrap)) throw error;
      return { kind: 'trapped', reason: isOverdue ? timeout : STOPPED[error.kind](limits) };
    }
  }

  /** Returns the image of the engine with the script in it. */
  function compile(guest: Guest, image: Image, slice: Slice): Image | Failed {
    const { realm, inside } = image;
    const plain = guest.evaluate(realm, toFunction(slice), SCRIPT);
    const isAsync = plain.isThrown && /\bawait\b/.test(slice.body);
    const other = isAsync ? guest.evaluate(realm, `(async ${toFunction(slice).slice(1)}`, SCRIPT) : plain;
    const script = other.isThrown ? plain : other;
    if (script.isThrown) return failed(describe(guest, image, script, slice.limits));
    const mutable = guest.newText(realm, slice.mutable.map((flag) => (flag ? '1' : '0')).join(''));
    guest.call(realm, inside.install, script.value, mutable);
    return extendImage(guest, image);
  }

  /** Parses the arguments of a call. The script does not run yet, so this takes nothing of its time and memory. */
  function load(
    guest: Guest,
    { realm, inside }: Image,
    texts: readonly string[],
    limits: ScriptLimits,
  ): Failed | undefined {
    for (const text of texts) {
      const value = guest.newText(realm, text);
      const returned = guest.call(realm, inside.load, value);
      guest.free(realm, value);
      const reason = returned.isThrown ? 'InternalError: out of memory' : guest.readText(realm, returned.value);
      if (reason !== '') return failed(explain(reason, limits));
    }
    return undefined;
  }

  function call(guest: Guest, script: Image, timeout: string, limits: ScriptLimits): Ended {
    const { realm, inside } = script;
    let returned = guest.call(realm, inside.run);
    while (!returned.isThrown) {
      // Some functions of QuickJS, and short jobs without an end, take long without asking.
      if (host.isOverdue()) return failed(timeout);
      const state = guest.readText(realm, returned.value);
      if (state !== '') {
        limitTime(Number.POSITIVE_INFINITY);
        return readOutcome(guest, script, state, limits);
      }
      if (!guest.hasJobs(realm)) return { kind: 'silent' };
      returned = guest.runJobs(realm, JOBS_AT_ONCE);
      if (!returned.isThrown) returned = guest.call(realm, inside.settle);
    }
    return failed(describe(guest, script, returned, limits));
  }

  async function run(slice: Slice): Promise<SliceResult> {
    const { calls, limits } = slice;
    report(PREPARING);
    mails.allow(limits.mails);
    const image = await getImage(librariesOf(slice.body));
    const key = JSON.stringify([slice.parameters, slice.mutable, slice.body]);
    const known = compiled.get(key);
    const guest = await takeGuest(known ?? image, slice, known !== undefined);
    report(COMPILING);
    const started = cpuMs();
    limitTime(limits.recordMs);
    const script = known ?? guard(() => compile(guest, image, slice), STOPPED.time(limits), limits);
    if ('reason' in script) return { outcomes: failAll(calls, script.reason, lines.take()), cpuMs: cpuMs() - started };
    keepScript(key, script);
    return { outcomes: await callAll(guest, script, slice, started), cpuMs: cpuMs() - started };
  }

  /** Calls the script for as many calls as fit in the slice. */
  async function callAll(first: Guest, script: Image, slice: Slice, started: number): Promise<readonly Outcome[]> {
    const { calls, limits, batchLeftMs } = slice;
    const outcomes: Outcome[] = [];
    let guest = first;
    let characters = 0;
    for (const [index, texts] of calls.entries()) {
      const spentMs = cpuMs() - started;
      if (batchLeftMs <= spentMs) return [...outcomes, ...failAll(calls.slice(index), STOPPED.batchTime(limits), [])];
      if (index > 0 && (spentMs >= SLICE_MS || characters >= SLICE_CHARACTERS)) break;
      const ended = callOnce(guest, script, { index, texts, limits, endMs: started + batchLeftMs });
      if (ended.kind === 'trapped') guest = await createGuest(engine, guest.maxBytes, host);
      outcomes.push({
        ...(ended.kind === 'trapped' ? failed(ended.reason) : ended),
        console: lines.take(),
        ...mails.take(),
      });
      if (ended.kind === 'done') characters += ended.json?.length ?? 0;
    }
    keepGuest(guest, slice.owner);
    return outcomes;
  }

  function callOnce(guest: Guest, script: Image, { index, texts, limits, endMs }: OneCall): Ended | Trapped {
    const { memoryBytes, valueBytes } = limits;
    const room = script.size + memoryBytes + roomOf(texts);
    /** Begins a step, which has this time unless less is left for all calls. Returns the reason of its end. */
    const begin = (step: CallStep, ms: number): string => {
      report(progressOf(index, step));
      const leftMs = endMs - cpuMs();
      limitTime(Math.min(ms, leftMs));
      return leftMs < ms ? STOPPED.batchTime(limits) : STOPPED.time(limits);
    };
    restoreImage(guest, script);
    guest.limitMemory(script.realm, room);
    beginReturn = () => {
      report(progressOf(index, 'return'));
      guest.limitMemory(script.realm, room + RESULT_BYTES * valueBytes);
    };
    const loading = begin('load', transferMs(charactersOf(texts)));
    const fault = guard(() => load(guest, script, texts, limits), loading, limits);
    if (fault !== undefined) return fault;
    const running = begin('run', limits.recordMs);
    return guard(() => call(guest, script, running, limits), running, limits);
  }

  return { run };
}

/** One call of a slice. */
interface OneCall {
  readonly index: number;
  readonly texts: readonly string[];
  readonly limits: ScriptLimits;
  /** When the CPU time of all calls is used up. */
  readonly endMs: number;
}

/** Returns the memory that the arguments of a call may take. The engine has texts of ASCII with one byte for each character. */
function roomOf(texts: readonly string[]): number {
  return ARGUMENT_BYTES * texts.reduce((sum, text) => sum + text.length * (isAscii(text) ? 1 : 2), 0);
}

/** A short text is not worth the look. */
function isAscii(text: string): boolean {
  return text.length > ROOM_UNIT / 64 && Buffer.byteLength(text) === text.length;
}

function failAll(calls: readonly unknown[], reason: string, console: readonly string[]): readonly Outcome[] {
  return calls.map(() => ({ ...failed(reason), console }));
}

/** The name of the script's code in the stacks of errors; the prelude looks for it. */
const SCRIPT = 'script';

/** Returns an expression of the function, whose lines are those of the body. */
function toFunction({ body, parameters }: Slice): string {
  return `(function (${[...parameters, 'done'].join(', ')}) { 'use strict'; ${body}\n})`;
}

function describe(guest: Guest, { realm, inside }: Image, { value }: Returned, limits: ScriptLimits): string {
  const described = guest.call(realm, inside.describe, value);
  return explain(described.isThrown ? '' : guest.readText(realm, described.value), limits);
}

/** Replaces the engine's messages about limits by our own. Without memory for a message there is none. */
function explain(reason: string, limits: ScriptLimits): string {
  if (reason === '' || reason.startsWith('InternalError: out of memory')) return STOPPED.memory(limits);
  return reason.startsWith('InternalError: stack overflow') ? STOPPED.nesting() : reason;
}

function readOutcome(guest: Guest, { realm, inside }: Image, state: string, limits: ScriptLimits): Ended {
  if (state === STATES.empty) return { kind: 'done' };
  const taken = guest.call(realm, inside.take);
  const bytes = guest.readBytes(realm, taken.value);
  if (state === STATES.failed) return failed(explain(bytes.toString(), limits));
  if (bytes.length === 0) return failed(STOPPED.memory(limits));
  if (bytes.length > limits.valueBytes)
    return failed(`The result has ${bytes.length} bytes of JSON; the maximum is ${limits.valueBytes}`);
  const text = bytes.toString();
  const { values, depth } = measureJson(text);
  if (values > limits.values) return failed(`The result has more than ${limits.values} values`);
  if (depth > MOST_DEPTH) return failed(`The result is nested deeper than ${MOST_DEPTH} levels`);
  return { kind: 'done', json: text };
}
