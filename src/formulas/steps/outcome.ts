import type { Mail, StepValue } from '../executions/model.ts';
import type { Step } from '../model.ts';
import type { Context } from '../references.ts';

/** The input of a step. */
export interface StepInput {
  readonly step: Step;
  readonly context: Context;
  /** The user on whose behalf the formula instance runs. */
  readonly caller: { readonly accountId: number; readonly userId: number };
  /** Identifies this run of the step, also if it runs again after a crash. */
  readonly key: string;
  /** Number of retries that were made. */
  readonly retries: number;
  /** Number of times that this run of the step has begun. Above 1, processes ended in the middle of it. */
  readonly begun: number;
  /** Members of the request that end chains of formulas. */
  readonly origin: Origin;
  /** Whether a step without values fails, and scripts need not call `done`, as in formulas of the first engine. */
  readonly isOfFirstEngine: boolean;
  readonly signal: AbortSignal;
}

/** The execution that sends a request to the own API. */
export interface Origin {
  readonly formulaId: number;
  readonly formulaInstanceId: number;
  readonly executionId: number;
  /** Number of formulas that led to this one. */
  readonly chain: number;
}

export type StepOutcome =
  | {
      readonly kind: 'done';
      /** Whether `onSuccess` follows. */
      readonly isSuccess: boolean;
      /** Whether it makes the execution fail. */
      readonly isFault: boolean;
      readonly values: readonly StepValue[];
      /** Mail that is sent once the step is stored. */
      readonly mails?: readonly Mail[];
    }
  /** The step runs again after a time. */
  | { readonly kind: 'retry'; readonly afterMs: number };

export type PerformStep = (input: StepInput) => Promise<StepOutcome>;

/** A step that ends as failed, with the reason for its author. */
export class StepFault extends Error {
  override readonly name = 'StepFault';
  readonly values: readonly StepValue[];

  constructor(message: string, values: readonly StepValue[] = []) {
    super(message);
    this.values = values;
  }
}

export function succeed(values: readonly StepValue[]): StepOutcome {
  return { kind: 'done', isSuccess: true, isFault: false, values };
}

export function fail(values: readonly StepValue[]): StepOutcome {
  return { kind: 'done', isSuccess: false, isFault: true, values };
}

/** The member that says why a step failed. */
export function errorValue(message: string): StepValue {
  return [['error'], message];
}
