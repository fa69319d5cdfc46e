import { api, ask } from '../api.ts';
import { type Execution, type FormulaInstance, orNothing } from './calls.ts';
import type { Content } from './flow.ts';

/** The formula and the instance of an execution. A member is undefined if the formula or the instance was deleted. */
export interface Background {
  readonly instance: FormulaInstance | undefined;
  readonly formulaName: string | undefined;
  /** The content of the formula in the version that the execution runs. */
  readonly content: Content | undefined;
}

/** Loads the version of the formula that an execution runs or, if it is no longer stored, the current version. @throws ApiError */
export async function loadBackground(
  { formulaInstanceId: instanceId, formulaVersion: version }: Pick<Execution, 'formulaInstanceId' | 'formulaVersion'>,
  signal: AbortSignal,
): Promise<Background> {
  const params = { path: { instanceId } };
  const instance = await orNothing(ask(api.GET('/formulas/instances/{instanceId}', { signal, params })));
  if (instance === undefined) return { instance, formulaName: undefined, content: undefined };
  const { id } = instance.formula;
  const [formula, stored] = await Promise.all([
    orNothing(ask(api.GET('/formulas/{id}', { signal, params: { path: { id } } }))),
    version === undefined
      ? undefined
      : orNothing(ask(api.GET('/formulas/{id}/versions/{version}', { signal, params: { path: { id, version } } }))),
  ]);
  const found = stored ?? formula;
  const content = found && {
    configuration: found.configuration,
    triggers: found.triggers,
    steps: found.steps ?? [],
  };
  return { instance, formulaName: formula?.name, content };
}
