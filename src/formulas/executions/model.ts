import type { ExecutionStatus, FormulaKey } from '../model.ts';

/** A value of a step: its path within the step, and a value of JSON. An empty path is the value of the step as a whole. */
export type StepValue = readonly [path: readonly string[], value: unknown];

/** A formula that is running: the one of the execution, or a sub-formula. */
export interface Frame {
  /** 0 for the formula of the execution, otherwise the ordinal of the step that called it. */
  readonly id: number;
  readonly formula: FormulaKey;
  readonly version: number;
  /** Names of the steps to come, the next one last. */
  readonly stack: readonly string[];
  /** Index of the current entry of each running loop. */
  readonly loops: Readonly<Record<string, number>>;
  readonly hasFailed: boolean;
  /** Name of the step that ended last. */
  readonly last?: string;
}

/** The state from which an execution resumes, as it is stored after each step that leaves the process. */
export interface RunPosition {
  /** The last frame is the one that runs. */
  readonly frames: readonly Frame[];
  /** The ordinal of the next step. */
  readonly ordinal: number;
  /** Number of retries that the next step has had. */
  readonly retries: number;
  /** Number of times that the next step was begun. If a process resumes above 0, the step may have run before. */
  readonly begun: number;
  /** The entry of a planned retry, which starts a new execution when it is due. */
  readonly isRetry?: true;
}

export interface ExecutionKey {
  readonly accountId: number;
  readonly id: number;
}

/** One executed step. */
export interface StepRow {
  readonly ordinal: number;
  readonly frame: number;
  readonly stepName: string;
  readonly status: 'success' | 'failed';
  /** Whether the step makes its execution fail. */
  readonly isFault: boolean;
  readonly isRestarted: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Null: not kept. */
  readonly content: readonly StepValue[] | null;
}

/** An execution that a worker has claimed. */
export interface ClaimedRun extends ExecutionKey {
  readonly executionAt: Date;
  readonly formulaInstanceId: number;
  readonly lease: string;
  readonly steps: number;
  readonly position: RunPosition | null;
  readonly isCancelled: boolean;
  /** Whether a request waits for what its last step leaves. */
  readonly isAwaited: boolean;
  /** The input of the execution, or the size of a large one, which the claim leaves out. Null: the execution was deleted. */
  readonly input: ExecutionInput | { readonly bytes: number } | null;
}

/** A mail that a script sends by `notify.email`. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

/** An execution to be started. */
export interface NewExecution {
  readonly accountId: number;
  readonly formulaInstanceId: number;
  readonly formula: FormulaKey;
  readonly version: number;
  readonly serial: boolean;
  readonly trigger: readonly StepValue[];
  readonly createdAt: Date;
  readonly attempt?: number;
  readonly chain?: number;
  readonly isAwaited?: boolean;
  /** Why it must not run. It is stored as failed then. */
  readonly refusal?: string | undefined;
}

/** The stored input of an execution. */
export interface ExecutionInput {
  readonly formula: FormulaKey;
  readonly version: number;
  readonly trigger: readonly StepValue[];
  readonly attempt: number;
  readonly chain: number;
}

/** Status in which an execution has ended. */
export type EndStatus = Exclude<ExecutionStatus, 'pending' | 'queued'>;
