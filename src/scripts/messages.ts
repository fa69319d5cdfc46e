import type { ScriptLimits, ScriptMail } from './model.ts';

/** A part of a job that a thread runs without a pause. */
export interface Slice {
  /** The account whose script it is. */
  readonly owner: number;
  readonly body: string;
  readonly parameters: readonly string[];
  readonly mutable: readonly boolean[];
  readonly limits: ScriptLimits;
  /** The arguments of each call, in the order of the parameters, each as JSON. */
  readonly calls: readonly (readonly string[])[];
  /** The CPU time that the job has left. */
  readonly batchLeftMs: number;
}

/** The outcome of one call as a thread sends it. The result of `done` stays text until the main thread parses it. */
export type Outcome = { readonly mails?: readonly ScriptMail[] } & (
  | { readonly kind: 'done'; readonly json?: string; readonly console: readonly string[] }
  | { readonly kind: 'silent'; readonly console: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string; readonly console: readonly string[] }
);

/** The outcomes of the first calls of a slice, at least one. The others run later. */
export interface SliceResult {
  readonly outcomes: readonly Outcome[];
  readonly cpuMs: number;
}

/** The input of a thread. */
export interface ScriptThreadData {
  /** Shared memory: its first element is the number of steps that the current slice has begun. */
  readonly progress: Int32Array;
}

/** The value of `progress` while the engine is prepared, which is not limited by the script's limits. */
export const PREPARING = 0;
/** The value of `progress` while the script is compiled. The steps of the calls follow. */
export const COMPILING = 1;

/** The steps of one call: its arguments are parsed, the script runs, and the script has called `done`. */
const CALL_STEPS = ['load', 'run', 'return'] as const;
export type CallStep = (typeof CALL_STEPS)[number];

/** Returns the value of `progress` for a step of a call. */
export function progressOf(call: number, step: CallStep): number {
  return COMPILING + 1 + call * CALL_STEPS.length + CALL_STEPS.indexOf(step);
}

/** Returns the call and its step for a value of `progress`. The call is -1 while the script is compiled. */
export function readProgress(progress: number): { readonly call: number; readonly step: CallStep } {
  const at = progress - COMPILING - 1;
  return { call: at < 0 ? -1 : Math.floor(at / CALL_STEPS.length), step: CALL_STEPS[at % CALL_STEPS.length] ?? 'run' };
}

/** The CPU time that a character of an argument or of a result may take, beside the time of the script: several times what it takes. */
const TRANSFER_MS = 1 / 10_000;
/** The CPU time that short arguments may take. */
const LEAST_TRANSFER_MS = 50;

/** Returns the CPU time in which arguments or a result of this length are certainly parsed or printed. */
export function transferMs(characters: number): number {
  return LEAST_TRANSFER_MS + characters * TRANSFER_MS;
}

/** Returns the number of characters of the arguments of a call. */
export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** CPU time after which a thread returns what it has, so that scripts of other accounts run in between. */
export const SLICE_MS = 100;
/** Characters of results after which a thread returns what it has. The main thread parses them in one turn. */
export const SLICE_CHARACTERS = 1024 * 1024;

const MIB = 1024 * 1024;

/** Why a script was stopped, in the words of the result. */
export const STOPPED = {
  time: ({ recordMs }: ScriptLimits) => `Script execution timed out after ${recordMs} ms`,
  batchTime: ({ batchMs }: ScriptLimits) => `Script execution timed out after ${batchMs} ms for all records together`,
  memory: ({ memoryBytes }: ScriptLimits) => `Script execution exceeded ${Math.round(memoryBytes / MIB)} MB of memory`,
  nesting: () => 'Script execution exceeded the maximum depth of calls or of nested values',
  fault: () => 'Script execution stopped the engine',
} satisfies Record<string, (limits: ScriptLimits) => string>;
