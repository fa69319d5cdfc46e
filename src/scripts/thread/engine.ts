import { OUTCOMES } from '../inside/prelude.ts';
import {
  COMPILING,
  type Outcome,
  PREPARING,
  SLICE_CHARACTERS,
  SLICE_MS,
  type Slice,
  type SliceResult,
  STOPPED,
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
export interface ScriptEngine {
  readonly run: (slice: Slice) => Promise<SliceResult>;
}

export interface EnginePorts {
  /** The CPU time of this thread in milliseconds. */
  readonly cpuMs: () => number;
  /** Is called with each step that begins: the values are those of `progress`. */
  readonly report: (step: number) => void;
}

/** Jobs of promises that run before the engine looks whether `done` was called. */
const JOBS_AT_ONCE = 64;
/** The main thread parses results. More values than these take it more than about 25 ms, however short the text is. */
const MOST_VALUES = 200_000;
/** Code that walks over results by recursion must not meet the end of its stack. */
const MOST_DEPTH = 500;
/** Memory is fragmented, and the arguments and results of a call are in it more than once. */
const SPARE = 1.5;

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
  let kept: Guest | undefined;

  const host = {
    isOverdue: () => {
      isOverdue ||= cpuMs() >= deadline;
      return isOverdue;
    },
    call: (request: string) => {
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

  /** Returns a guest in the state of the image. */
  async function takeGuest(image: Image, { memoryBytes }: ScriptLimits): Promise<Guest> {
    const maxBytes = INITIAL_BYTES + SPARE * memoryBytes;
    const guest = kept?.maxBytes === maxBytes ? kept : await createGuest(engine, maxBytes, host);
    kept = undefined;
    resetGuest(guest, image);
    guest.limitMemory(image.realm, image.size + memoryBytes);
    return guest;
  }

  /** A guest that has grown is not used again, because memory of WebAssembly never shrinks. */
  function keepGuest(guest: Guest): void {
    if (guest.memory.buffer.byteLength === INITIAL_BYTES) kept = guest;
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

  function call(guest: Guest, script: Image, text: string, limits: ScriptLimits): Ended {
    const { realm, inside } = script;
    let returned = guest.call(realm, inside.run, guest.newText(realm, text));
    while (!returned.isThrown) {
      const outcome = guest.readText(realm, returned.value);
      if (outcome !== '') return readOutcome(outcome, limits);
      if (!guest.hasJobs(realm)) return { kind: 'silent' };
      returned = guest.runJobs(realm, JOBS_AT_ONCE);
      // Short jobs without an end call no function of the host.
      if (host.isOverdue()) return failed(STOPPED.time(limits));
      if (!returned.isThrown) returned = guest.call(realm, inside.settle);
    }
    return failed(describe(guest, script, returned, limits));
  }

  async function run(slice: Slice): Promise<SliceResult> {
    const { calls, limits } = slice;
    report(PREPARING);
    mails.allow(limits.mails);
    const image = await getImage(librariesOf(slice.body));
    const guest = await takeGuest(image, limits);
    report(COMPILING);
    const started = cpuMs();
    limitTime(limits.recordMs);
    const script = guard(() => compile(guest, image, slice), STOPPED.time(limits), limits);
    const outcomes =
      'reason' in script ? failAll(calls, script.reason, lines.take()) : await callAll(guest, script, slice, started);
    return { outcomes, cpuMs: cpuMs() - started };
  }

  /** Calls the script for as many calls as fit in the slice. */
  async function callAll(first: Guest, script: Image, slice: Slice, started: number): Promise<readonly Outcome[]> {
    const { calls, limits, batchLeftMs } = slice;
    const outcomes: Outcome[] = [];
    let guest = first;
    let characters = 0;
    for (const [index, text] of calls.entries()) {
      const spentMs = cpuMs() - started;
      const leftMs = batchLeftMs - spentMs;
      if (leftMs <= 0) return [...outcomes, ...failAll(calls.slice(index), STOPPED.batchTime(limits), [])];
      if (index > 0 && (spentMs >= SLICE_MS || characters >= SLICE_CHARACTERS)) break;
      report(COMPILING + 1 + index);
      restoreImage(guest, script);
      limitTime(Math.min(limits.recordMs, leftMs));
      const timeout = leftMs < limits.recordMs ? STOPPED.batchTime(limits) : STOPPED.time(limits);
      const ended = guard(() => call(guest, script, text, limits), timeout, limits);
      if (ended.kind === 'trapped') guest = await createGuest(engine, guest.maxBytes, host);
      outcomes.push({
        ...(ended.kind === 'trapped' ? failed(ended.reason) : ended),
        console: lines.take(),
        ...mails.take(),
      });
      if (ended.kind === 'done') characters += ended.json?.length ?? 0;
    }
    keepGuest(guest);
    return outcomes;
  }

  return { run };
}

function failAll(calls: readonly string[], reason: string, console: readonly string[]): readonly Outcome[] {
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

function readOutcome(outcome: string, limits: ScriptLimits): Ended {
  const text = outcome.slice(1);
  if (outcome.startsWith(OUTCOMES.failed)) return failed(explain(text, limits));
  if (text === '') return { kind: 'done' };
  if (text.length > limits.resultCharacters)
    return failed(`The result has ${text.length} characters of JSON; the maximum is ${limits.resultCharacters}`);
  const { values, depth } = measureJson(text);
  if (values > MOST_VALUES) return failed(`The result has more than ${MOST_VALUES} values`);
  if (depth > MOST_DEPTH) return failed(`The result is nested deeper than ${MOST_DEPTH} levels`);
  return { kind: 'done', json: text };
}
