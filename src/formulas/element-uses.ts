import type { Step, Trigger } from './model.ts';
import type { Program, Programs, RunnableInstance } from './programs.ts';
import { listReferences } from './references.ts';
import { listOf, resolveProperty, type Target, type Triggers } from './triggers.ts';

/** A running formula instance that calls an element instance, or that its events start. */
export interface ElementUse {
  readonly formulaId: number;
  readonly formulaName: string;
  readonly formulaInstanceId: number;
  readonly formulaInstanceName: string;
  /** Names of the objects that its trigger and its steps name, as far as they don't depend on a run. */
  readonly objectNames: readonly string[];
  /** The trigger and the steps as JSON. They name fields in scripts, paths and bodies. */
  readonly text: string;
}

export interface ElementUsePorts {
  readonly programs: Pick<Programs, 'get' | 'listRunning'>;
  /** Leaves out formula instances of other accounts whose owners have no right in this one. */
  readonly listAllowed: Triggers['listAllowed'];
}

/** Finds the running formula instances that use an element instance of an account. */
export async function findElementUses(
  { programs, listAllowed }: ElementUsePorts,
  accountId: number,
  elementInstanceId: number,
): Promise<readonly ElementUse[]> {
  const targets: Target[] = [];
  for (const instance of await programs.listRunning(accountId)) {
    if (!Object.values(instance.configuration).includes(String(elementInstanceId))) continue;
    const program = await programs.get(instance.formula, instance.version);
    if (program !== undefined) targets.push({ instance, program });
  }
  const allowed = await listAllowed(accountId, targets);
  return allowed.flatMap(({ instance, program }) => useOf(program, instance, elementInstanceId) ?? []);
}

/** Returns how a formula uses an element instance. Undefined: it does not. */
export function useOf(
  program: Pick<Program, 'variables' | 'trigger' | 'steps'>,
  instance: Pick<RunnableInstance, 'id' | 'name' | 'formula' | 'formulaName' | 'configuration'>,
  elementInstanceId: number,
): ElementUse | undefined {
  const nodes: readonly (Trigger | Step)[] = [...(program.trigger ? [program.trigger] : []), ...program.steps.values()];
  const resolve = (value: unknown) => resolveProperty(program, instance, value);
  const users = nodes.filter(({ properties }) => resolve(properties.elementInstanceId) === String(elementInstanceId));
  if (users.length === 0) return undefined;
  const names = users.flatMap(({ type, properties }) =>
    type === 'event' ? listOf(properties.objectTypes) : objectOf(properties.api, resolve),
  );
  return {
    formulaId: instance.formula.id,
    formulaName: instance.formulaName,
    formulaInstanceId: instance.id,
    formulaInstanceName: instance.name,
    objectNames: [...new Set(names)],
    text: JSON.stringify(nodes.map(({ properties }) => properties)),
  };
}

/** Returns the object that a path of this API begins with. None, where a run decides it. */
function objectOf(api: unknown, resolve: (value: unknown) => string): readonly string[] {
  if (typeof api !== 'string') return [];
  const [path = ''] = api.split('?', 1);
  const [first, , third] = path.replace(/^\/?/, '').split('/');
  const segment = first === 'hubs' ? third : first;
  if (segment === undefined || segment === '') return [];
  const name = listReferences(segment).length === 0 ? decodeSegment(segment) : resolve(segment);
  return name === '' ? [] : [name];
}

/** Returns a segment of a path without its escapes. A segment that is not escaped correctly names no object. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
