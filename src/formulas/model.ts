/** Types of steps, in the words of the API. */
export const STEP_TYPES = [
  'elementRequest',
  'request',
  'httpRequest',
  'filter',
  'script',
  'loop',
  'formula',
  'retryFormulaExecution',
  'elementRequestStream',
  'amqpRequest',
] as const;
export type StepType = (typeof STEP_TYPES)[number];

export const TRIGGER_TYPES = ['event', 'elementRequest', 'scheduled', 'manual'] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];

export const ENGINES = ['v1', 'v2', 'v3'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Methods of formulas that are resources. */
export const RESOURCE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type ResourceMethod = (typeof RESOURCE_METHODS)[number];

/** A variable of a formula, whose value an instance gives. */
export interface Variable {
  readonly id: number;
  readonly key: string;
  readonly name?: string;
  /** `elementInstance` or `value`; other types of exported formulas are kept as they are. */
  readonly type: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** The members of steps and triggers that decide what follows. */
export interface Node {
  readonly id: number;
  readonly name: string;
  /** Properties as they were given. Texts may contain references such as `${config.crm}`. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly onSuccess: readonly string[];
  readonly onFailure: readonly string[];
}

export interface Trigger extends Node {
  readonly type: TriggerType;
  readonly async?: boolean;
}

export interface Step extends Node {
  readonly description?: string;
  readonly type: StepType;
}

/** The versioned part of a template. */
export interface FormulaContent {
  readonly configuration: readonly Variable[];
  readonly triggers: readonly Trigger[];
  readonly steps: readonly Step[];
}

/** Names a template. Its account may be the default account of the organization. */
export interface FormulaKey {
  readonly accountId: number;
  readonly id: number;
}

/** A template of a formula. */
export interface Formula extends FormulaKey, FormulaContent {
  readonly userId: number;
  readonly name: string;
  readonly description: string | null;
  readonly active: boolean;
  readonly singleThreaded: boolean;
  readonly debugLoggingEnabled: boolean;
  readonly engine: EngineName;
  readonly method: ResourceMethod | null;
  readonly uri: string | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface FormulaInstanceKey {
  readonly accountId: number;
  readonly id: number;
}

/** A template with values for its variables. */
export interface FormulaInstance extends FormulaInstanceKey {
  readonly formulaAccountId: number;
  readonly formulaId: number;
  readonly userId: number;
  readonly name: string;
  readonly active: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Values of the variables, by key. All are texts. */
  readonly configuration: Readonly<Record<string, string>>;
  /** Why it was deactivated or does not run as its owner may expect. */
  readonly warning: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ExecutionStatus = 'pending' | 'queued' | 'success' | 'failed' | 'retry' | 'cancelled';

/** Maximum numbers of a template and its executions (formulas.md, 16 and 18). */
export const LIMITS = {
  steps: 500,
  executedSteps: 100_000,
  loopEntries: 50_000,
  triggerBytes: 5 * 1024 * 1024,
  valueBytes: 4 * 1024 * 1024,
  /** Characters of the values that the steps of an execution can refer to at a time. */
  liveCharacters: 48 * 1024 * 1024,
  depth: 10,
  executionMs: 24 * 3_600_000,
  startsPerMinute: 1_000,
} as const;
