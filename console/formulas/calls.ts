import { ApiError, api, ask, askPage, type Schemas } from '../api.ts';
import type { Content, Predecessor, Step, Trigger } from './flow.ts';

export type Formula = Schemas['Formula'];
export type FormulaInstance = Schemas['FormulaInstance'];
export type Execution = Schemas['FormulaExecution'];
export type StepExecution = Schemas['FormulaStepExecution'];
type FormulaBody = Schemas['FormulaBody'];

export const MOST_LISTED = 1_000;

/** A formula with the part of it that runs, and the findings of the service. */
export interface LoadedFormula {
  readonly formula: Formula;
  readonly content: Content;
  readonly findings: readonly Schemas['FormulaFinding'][];
}

/** Loads a formula with its findings. @throws ApiError */
export async function loadFormula(id: number, signal?: AbortSignal): Promise<LoadedFormula> {
  const params = { path: { id } };
  const asked = signal === undefined ? { params } : { params, signal };
  const [formula, { findings }] = await Promise.all([
    ask(api.GET('/formulas/{id}', asked)),
    ask(api.GET('/formulas/{id}/validation', asked)),
  ]);
  return { formula, content: contentOf(formula), findings };
}

function contentOf({ configuration, triggers, steps = [] }: Formula): Content {
  return { configuration, triggers, steps };
}

/** Lists the instances of a formula. @throws ApiError */
export async function listInstancesOf(id: number, signal: AbortSignal): Promise<readonly FormulaInstance[]> {
  const params = { path: { id }, query: { pageSize: MOST_LISTED } };
  const { rows } = await askPage<FormulaInstance>(api.GET('/formulas/{id}/instances', { signal, params }));
  return rows;
}

/** The body of a step or a trigger, as the editor makes it. */
export type NodeBody = Omit<Step, 'id' | 'type'> & { readonly type: string };

/** Replaces a step. @throws ApiError with paths below `/body` */
export async function saveStep(formulaId: number, stepId: number, body: NodeBody): Promise<void> {
  await ask(api.PUT('/formulas/{id}/steps/{stepId}', { params: { path: { id: formulaId, stepId } }, body }));
}

/** Creates or replaces the trigger. @throws ApiError with paths below `/body` */
export async function saveTrigger(formulaId: number, before: Trigger | undefined, body: NodeBody): Promise<void> {
  if (before === undefined) {
    await ask(api.POST('/formulas/{id}/triggers', { params: { path: { id: formulaId } }, body }));
    return;
  }
  const path = { id: formulaId, triggerId: before.id };
  await ask(
    api.PUT('/formulas/{id}/triggers/{triggerId}', { params: { path }, body: { ...body, async: before.async } }),
  );
}

/**
 * Adds a step. With a predecessor, the formula is read again and replaced in one request, so that the new step never exists without its
 * arrow.
 * @throws ApiError with paths below `/body`, or below `/body/steps/<index of the step>` with a predecessor
 */
export async function addStep(formulaId: number, body: NodeBody, after: Predecessor | undefined): Promise<void> {
  const params = { path: { id: formulaId } };
  if (after === undefined) {
    await ask(api.POST('/formulas/{id}/steps', { params, body }));
    return;
  }
  const { configuration, triggers, steps = [], ...rest } = await ask(api.GET('/formulas/{id}', { params }));
  const follow = <Node extends Trigger | Step>(node: Node, isIt: boolean): Node =>
    isIt ? { ...node, [after.member]: [...node[after.member], body.name] } : node;
  const changed = {
    ...rest,
    configuration,
    triggers: triggers.map((trigger) => follow(trigger, after.stepName === undefined)),
    steps: [...steps.map((step) => follow(step, step.name === after.stepName)), body],
  };
  await ask(api.PUT('/formulas/{id}', { params, body: changed }));
}

/** Returns the content of a file as a formula. @throws Error for anything else */
export function readFormulaFile(text: string): FormulaBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`The text is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (!isFormulaBody(value)) throw new Error('The text is not a formula: it must be a JSON object with a name.');
  return value;
}

function isFormulaBody(value: unknown): value is FormulaBody {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/** Returns undefined in place of the error for a missing resource. @throws ApiError for other errors */
export async function orNothing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
