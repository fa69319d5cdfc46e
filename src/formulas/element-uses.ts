import type { Step, Trigger } from './model.ts';
import { findNamedFields, type NamedFields } from './named-fields.ts';
import type { Program, Programs, RunnableInstance } from './programs.ts';
import { listReferences } from './references.ts';
import { listOf, resolveProperty, type Target, type Triggers } from './triggers.ts';

/** A running formula instance that calls an element instance, or that its events start. */
export interface ElementUse {
  readonly formulaId: number;
  readonly formulaName: string;
  readonly formulaInstanceId: number;
  readonly formulaInstanceName: string;
  /** Names of the objects and children that its trigger and its steps name, as far as they don't depend on a run. */
  readonly objectNames: readonly string[];
  /** The fields that its steps name. */
  readonly named: NamedFields;
}

interface ElementUsePorts {
  readonly programs: Programs;
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
  const { trigger } = program;
  const steps = [...program.steps.values()];
  const nodes: readonly (Trigger | Step)[] = trigger === undefined ? steps : [trigger, ...steps];
  const resolve = (value: unknown) => resolveProperty(program, instance, value);
  const users = nodes.filter(({ properties }) => resolve(properties.elementInstanceId) === String(elementInstanceId));
  if (users.length === 0) return undefined;
  const objectsOfEvents = users.flatMap(({ type, properties }) =>
    type === 'event' ? listOf(properties.objectTypes) : [],
  );
  const requests = new Map(users.map((node) => [node, objectOf(node.properties.api, resolve)] as const));
  const objects = [...requests.values()].flatMap((name) => name ?? []);
  const named = findNamedFields({ trigger, steps, objectsOfEvents, objectOf: (node) => requests.get(node) });
  return {
    formulaId: instance.formula.id,
    formulaName: instance.formulaName,
    formulaInstanceId: instance.id,
    formulaInstanceName: instance.name,
    objectNames: [...new Set([...objectsOfEvents, ...objects])],
    named,
  };
}

/** Returns the object that a path of this API leads to, or a child of it, such as `orders/lines`. Undefined where a run decides it. */
function objectOf(api: unknown, resolve: (value: unknown) => string): string | undefined {
  if (typeof api !== 'string') return undefined;
  const [path = ''] = api.split('?', 1);
  const segments = path.replace(/^\/?/, '').split('/');
  const [first, , second] = segments[0] === 'hubs' ? segments.slice(2) : segments;
  const nameIn = (segment = '') => (listReferences(segment).length === 0 ? decodeSegment(segment) : resolve(segment));
  const [object, child] = [nameIn(first), nameIn(second)];
  if (object === '') return undefined;
  if (second === undefined || second === '') return object;
  return child === '' ? undefined : `${object}/${child}`;
}

/** Returns a segment of a path without its escapes. A segment that is not escaped correctly names no object. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
