/** Bounds of the execution of scripts. Times are CPU times of the thread, so a busy machine does not make a script fail. */
export interface ScriptLimits {
  /** Maximum CPU time of one call, and of the compilation of the script. */
  readonly recordMs: number;
  /** Maximum CPU time of all calls of a job. The calls that are left then fail. */
  readonly batchMs: number;
  /** Maximum memory of one call, beside that of the engine, the libraries, the arguments and the text of the result. */
  readonly memoryBytes: number;
  /** Maximum size of the JSON of one argument, and of one result, in bytes of UTF-8. */
  readonly valueBytes: number;
  /** Maximum number of values in one result, at all depths. The main thread walks over them. */
  readonly values: number;
  /** Maximum number of mails of one call. */
  readonly mails: number;
}

const MIB = 1024 * 1024;

/** Limits of scripts of transformations (mappings.md, 12 and 16). A result is one record, with as many members as one of a provider. */
export const TRANSFORMATION_LIMITS: ScriptLimits = {
  recordMs: 50,
  batchMs: 5000,
  memoryBytes: 16 * MIB,
  valueBytes: 8 * MIB,
  values: 100_000,
  mails: 0,
};

/** Limits of the steps of formulas (formulas.md, 8). */
export const FORMULA_LIMITS: ScriptLimits = {
  recordMs: 10_000,
  batchMs: 10_000,
  memoryBytes: 64 * MIB,
  valueBytes: 24 * MIB,
  values: 200_000,
  mails: 20,
};

/** CPU time that several jobs share. Each job uses up what its calls take. */
export interface CpuTime {
  leftMs: number;
}

/** A script that is to run once for each of its calls. */
export interface ScriptJob {
  /** The account whose script it is. An account has one thread at a time. */
  readonly owner: number;
  /** The body of a function whose parameters are `parameters` and `done`. */
  readonly body: string;
  readonly parameters: readonly string[];
  /** The parameters whose values the script may change. All others are frozen with everything in them. */
  readonly mutable: readonly string[];
  readonly calls: readonly ScriptCall[];
  readonly limits: ScriptLimits;
  /** The CPU time of this job and others together. Default: `batchMs` for this job alone. */
  readonly time?: CpuTime;
  /** Number of characters of results after which the job ends, although calls are left. Default: it never does. */
  readonly enoughCharacters?: number;
  readonly signal?: AbortSignal;
}

/** One call of a script. */
export interface ScriptCall {
  /** The arguments by parameter: values of JSON, of which the script gets copies. A missing one becomes null. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** A mail that a script sends by `notify.email`. */
export interface ScriptMail {
  /** Addresses, separated by commas. */
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

/**
 * The outcome of one call. `console` has the first lines that the script wrote: at most 100, with at most 16,384 characters together.
 * `mails` has the mail that it sends.
 */
export type ScriptResult = {
  readonly mails?: readonly ScriptMail[];
} /** The script called `done`. Without an argument, or with one that JSON cannot express, `value` is absent. */ & (
  | { readonly kind: 'done'; readonly value?: unknown; readonly console: readonly string[] }
  /** The script ended without a call of `done`. */
  | { readonly kind: 'silent'; readonly console: readonly string[] }
  /** The script threw, exceeded a limit or does not compile. The reason is for its author. */
  | { readonly kind: 'failed'; readonly reason: string; readonly console: readonly string[] }
);

/** Runs scripts of users where they can reach nothing of this process. */
export interface Sandbox {
  /**
   * Runs a script once for each call. The calls share nothing: each begins with a fresh copy of the engine's memory.
   * @returns one result for each call, in order; with `enoughCharacters`, at least one for the first calls
   * @throws AppError OVERLOADED when too much work waits, or when the sandbox is closed; the reason of the signal
   */
  readonly run: (job: ScriptJob) => Promise<readonly ScriptResult[]>;
  /** Ends all threads. Work that waits or runs fails with OVERLOADED. */
  readonly close: () => Promise<void>;
}
