import type { Causeway, FormulaExecution, FormulaStepExecution, FormulaStepValue } from '@causeway/client';
import { isSecretName, MASK, withoutSecretsIn } from './secret-names.js';

/** An executed step in the form of the output. */
export interface ShownStep extends FormulaStepExecution {
  /** The reason why the step failed, if the service has one. */
  readonly reason?: string;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly withValues: boolean;
  readonly onStep: (step: ShownStep) => Promise<void> | void;
  /** Receives the execution after each request for its state. */
  readonly onState?: (execution: FormulaExecution) => void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const PAGE_SIZE = 200;
/** A small page, because one value can have 4 MB. */
const PAGE_SIZE_WITH_VALUES = 20;
/** Maximum number of failed steps whose values are requested, each in a request of its own. */
const MOST_REASONS = 20;
const NOT_ENDED: ReadonlySet<string> = new Set(['pending', 'queued']);

/** Shows the steps of an execution as they end. @returns the ended execution, without its steps */
export async function followExecution(
  platform: Causeway,
  executionId: number,
  { signal, withValues, onStep, onState }: FollowOptions,
): Promise<FormulaExecution> {
  const steps = new StepReader(platform, executionId, { signal, withValues });
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    // Requested before the steps, so that no step is missing when the execution has ended.
    const execution = await platform.formulaExecutions.getFormulaExecution({ executionId }, { signal });
    onState?.(execution);
    for await (const step of steps.fresh()) {
      await onStep(step);
      pauseMs = FIRST_PAUSE_MS;
    }
    if (!NOT_ENDED.has(execution.status)) {
      const { stepExecutions: _, ...ended } = execution;
      return ended;
    }
    await pause(pauseMs, signal);
  }
}

/** Reads the steps of an execution that is running. Of the steps that it has read before, it requests only those of the last page again. */
class StepReader {
  readonly #platform: Causeway;
  readonly #executionId: number;
  readonly #options: { readonly signal: AbortSignal; readonly withValues: boolean };
  #nextPage: string | undefined;
  #onPage = new Set<number>();
  #reasons = 0;

  constructor(
    platform: Causeway,
    executionId: number,
    options: { readonly signal: AbortSignal; readonly withValues: boolean },
  ) {
    this.#platform = platform;
    this.#executionId = executionId;
    this.#options = options;
  }

  /** Returns the steps that have ended since the last call. */
  async *fresh(): AsyncGenerator<ShownStep, void> {
    for (;;) {
      const { steps, nextPage } = await this.#page();
      for (const step of steps.filter(({ id }) => !this.#onPage.has(id))) {
        this.#onPage.add(step.id);
        yield await this.#shown(step);
      }
      if (nextPage === undefined) return;
      this.#nextPage = nextPage;
      this.#onPage = new Set();
    }
  }

  async #page() {
    const { signal, withValues } = this.#options;
    const response = await this.#platform.formulaExecutions.listFormulaStepExecutionsRaw(
      {
        executionId: this.#executionId,
        includeValues: withValues,
        pageSize: withValues ? PAGE_SIZE_WITH_VALUES : PAGE_SIZE,
        ...(this.#nextPage !== undefined && { nextPage: this.#nextPage }),
      },
      { signal },
    );
    const nextPage = response.raw.headers.get('Elements-Next-Page-Token') ?? undefined;
    return { steps: await response.value(), nextPage };
  }

  async #shown(step: FormulaStepExecution): Promise<ShownStep> {
    if (step.status !== 'failed') return withoutSecretValues(step);
    // What is no fault needs no request for its values.
    const values = step.stepExecutionValues ?? (step.fault ? await this.#valuesOf(step) : []);
    const reason = values === undefined ? undefined : reasonOf(step, values);
    return { ...withoutSecretValues(step), ...(reason !== undefined && { reason }) };
  }

  async #valuesOf({ id }: FormulaStepExecution): Promise<readonly FormulaStepValue[] | undefined> {
    if (++this.#reasons > MOST_REASONS) return undefined;
    const { signal } = this.#options;
    const step = await this.#platform.formulaExecutions.getFormulaStepExecution({ stepExecutionId: id }, { signal });
    return step.stepExecutionValues;
  }
}

/** Returns the reason why a step failed. A filter that returns false and the end of a loop have this status too, and are no failures. */
export function reasonOf(
  { stepName, fault }: Pick<FormulaStepExecution, 'stepName' | 'fault'>,
  values: readonly FormulaStepValue[],
): string {
  const found = (member: string) => values.find(({ key }) => key === `${stepName}.${member}`)?.value;
  if (!fault)
    return found('continue') === 'false' ? 'the filter is false' : 'a filter that is false, or the end of a loop';
  const error = found('error');
  if (error !== undefined) return error;
  const code = found('response.code');
  if (code !== undefined) return `the response is ${code}`;
  return values.length === 0 ? 'the values of the step are not kept' : 'see its values';
}

function withoutSecretValues(step: FormulaStepExecution): FormulaStepExecution {
  const { stepExecutionValues: values } = step;
  return values === undefined ? step : { ...step, stepExecutionValues: values.map(withoutSecretValue) };
}

/**
 * Removes secrets from a value. A value is a text that contains JSON for other types. A value without a secret stays unchanged, to the last
 * digit.
 */
export function withoutSecretValue(given: FormulaStepValue): FormulaStepValue {
  const { key, value } = given;
  if (isSecretName(key)) return { ...given, value: MASK };
  if (!/^\s*[[{]/.test(value)) return { ...given, value: String(withoutSecretsIn(value)) };
  try {
    const content: unknown = JSON.parse(value);
    const shown = JSON.stringify(withoutSecretsIn(content));
    return shown === JSON.stringify(content) ? given : { ...given, value: shown };
  } catch {
    // The text only begins like JSON.
    return { ...given, value: String(withoutSecretsIn(value)) };
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
