import type { ElementUse } from '../formulas/element-uses.ts';
import type { Instance } from '../instances/instance.ts';
import { type PolledResource, readPollSettings } from '../instances/polling/poll-settings.ts';
import type { MappedInstance } from '../mappings/index.ts';
import type { MappingInForce, MappingsInForce } from '../mappings/model.ts';
import { childName, vendorNameOf } from './children.ts';

/** A formula instance that uses an object, with the names by which it does: the object's own, an alias, or that of a mapped object. */
export interface FormulaUse extends ElementUse {
  readonly names: readonly string[];
}

/** The users of one object of a provider. */
export interface ObjectUses {
  readonly polls: readonly PolledResource[];
  readonly mappings: readonly MappingInForce[];
  readonly formulas: readonly FormulaUse[];
}

export interface UsePorts {
  readonly mappingsInForce: (instance: MappedInstance) => Promise<MappingsInForce>;
  readonly formulasOf: (accountId: number, instanceId: number) => Promise<readonly ElementUse[]>;
}

export const NO_USES: ObjectUses = { polls: [], mappings: [], formulas: [] };

/**
 * Returns what uses the objects of an instance, by the name under which it is used. Behind a mapped object stands that of the provider. A
 * name may be an alias, and formulas may name what is no object.
 */
export async function findUses(
  { mappingsInForce, formulasOf }: UsePorts,
  instance: Pick<Instance, 'accountId' | 'id' | 'config' | 'connector'>,
): Promise<ReadonlyMap<string, ObjectUses>> {
  const inForce = await mappingsInForce(instance);
  const uses = new Map<string, { polls: PolledResource[]; mappings: MappingInForce[]; formulas: FormulaUse[] }>();
  const of = (name: string) => {
    const vendorName = vendorNameOf(inForce, name);
    const known = uses.get(vendorName) ?? { polls: [], mappings: [], formulas: [] };
    uses.set(vendorName, known);
    return known;
  };
  for (const resource of readPollSettings(instance.config, instance.connector)?.resources ?? [])
    of(polledName(resource)).polls.push(resource);
  for (const [name, mapping] of inForce.byName) of(name).mappings.push(mapping);
  for (const formula of await formulasOf(instance.accountId, instance.id))
    for (const name of formula.objectNames) {
      const { formulas } = of(name);
      formulas.splice(0, formulas.length, ...joinFormulas([...formulas, { ...formula, names: [name] }]));
    }
  return uses;
}

function polledName({ name, query }: PolledResource): string {
  const { objectName: parent = name, child } = query ?? {};
  return child === undefined ? parent : childName({ parent, child: child.name });
}

/** Returns the uses of an object that is used under several names. */
export function joinUses(uses: readonly ObjectUses[]): ObjectUses {
  const [first = NO_USES, ...others] = uses;
  if (others.length === 0) return first;
  return {
    polls: uses.flatMap(({ polls }) => polls),
    mappings: uses.flatMap(({ mappings }) => mappings),
    formulas: joinFormulas(uses.flatMap(({ formulas }) => formulas)),
  };
}

function joinFormulas(formulas: readonly FormulaUse[]): readonly FormulaUse[] {
  const byId = Map.groupBy(formulas, ({ formulaInstanceId }) => formulaInstanceId);
  return [...byId.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : { ...first, names: [first, ...others].flatMap(({ names }) => names) },
  );
}
