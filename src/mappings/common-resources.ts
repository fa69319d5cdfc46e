import type { Registry } from '../connector/registry.ts';
import { missing } from '../shared-errors.ts';
import { defaultLevel, type GetInstance, ownerOf, putByOwner, readByOwner } from './by-owner.ts';
import type { ChangeMappings, MappingCaller } from './changes.ts';
import { assertName } from './check-definition.ts';
import { assertUnused, type Definitions } from './definitions.ts';
import { createFaults } from './faults.ts';
import type { DefinitionField, Level } from './model.ts';
import { type Owner, ownerKey } from './owner.ts';
import type { MappingStore, VisibleTo } from './store.ts';
import { MOST_ROWS, type Visible } from './visible.ts';

/** A definition with the fields of all levels that an account sees. */
interface CommonResource {
  readonly name: string;
  readonly fields: readonly AssociatedField[];
  /** Instances with a transformation of their own. */
  readonly elementInstanceIds: readonly number[];
  /** Elements with a transformation. */
  readonly mappedElementIds: readonly number[];
}

/** A field with the level that it is stored at. */
interface AssociatedField extends DefinitionField {
  readonly associatedLevel: Level;
  /** The id of the organization, the account or the instance. */
  readonly associatedId: number;
}

interface CommonResourcePorts {
  readonly store: MappingStore;
  readonly visible: Visible;
  readonly changeMappings: ChangeMappings;
  readonly registry: Registry;
  readonly definitions: Definitions;
  readonly reservedNames: ReadonlySet<string>;
}

/** Maximum number of levels, instances included, whose fields a resource shows. */
const MOST_LEVELS = 200;

/** Creates the service that shows and changes definitions with all their levels merged. */
export function createCommonResources(ports: CommonResourcePorts) {
  const { store, visible, changeMappings, registry, definitions, reservedNames } = ports;

  async function describe(to: VisibleTo, name: string): Promise<CommonResource> {
    const levels = (await visible.get(to, name)).slice(0, MOST_LEVELS);
    const fields: AssociatedField[] = [];
    for (const one of levels) {
      const owner = ownerOf(to, one);
      const found = await store.findDefinition(owner, name);
      const associatedId = idOf(owner);
      for (const field of found?.fields ?? []) fields.push({ ...field, associatedLevel: one.level, associatedId });
    }
    return { name, fields, ...(await usesOf(to, name)) };
  }

  async function usesOf(to: VisibleTo, name: string) {
    const uses = await store.listVisibleUses(to, [name], MOST_ROWS);
    const keys = new Set(uses.flatMap(({ elementKey, instanceId }) => (instanceId === null ? [elementKey] : [])));
    return {
      elementInstanceIds: uses.flatMap(({ instanceId }) => instanceId ?? []),
      mappedElementIds: [...keys].flatMap((key) => registry.findConnector(key)?.id ?? []),
    };
  }

  /**
   * Returns the highest level with the definition that the caller may change.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async function highestChangeable(caller: MappingCaller, name: string): Promise<Owner> {
    const levels = await visible.get(caller, name);
    const found = levels.find(({ level }) => caller.mayChange(level));
    if (found !== undefined) return ownerOf(caller, found);
    caller.assertMayChange(levels[0].level);
    throw missing('common resource', name);
  }

  return {
    /** Returns the names of the definitions that an account sees. */
    listNames: async (to: VisibleTo): Promise<readonly string[]> => [
      ...new Set((await visible.list(to)).map(({ objectName }) => objectName)),
    ],

    /**
     * Returns a resource.
     * @throws AppError NOT_FOUND
     */
    get: describe,

    /**
     * Creates or replaces a resource. Fields go to the levels that they name.
     * @throws AppError REQUEST_INVALID, NOT_FOUND for an instance
     */
    put: async (caller: MappingCaller, body: Readonly<Record<string, unknown>>, getInstance: GetInstance) => {
      const { name } = body;
      const faults = createFaults('body');
      if (typeof name !== 'string') faults.note(['name'], 'is missing.');
      faults.throwIfAny();
      const objectName = String(name);
      assertName(objectName, ['body', 'name'], reservedNames);
      const level = defaultLevel(caller);
      const parts = await readByOwner(caller, { objectName, fields: body.fields, level }, getInstance);
      const levels = [...parts.keys()].map((owner) => owner.level);
      if (!levels.some(caller.mayChange)) caller.assertMayChange(levels[0] ?? level);
      const ignored = await changeMappings(caller.organizationId, async (change) => {
        const found = await putByOwner(change, caller, objectName, parts);
        const changes = Object.fromEntries([...parts].map(([owner, fields]) => [owner.level, { to: fields }]));
        return { result: found, note: { targetId: objectName, changes } };
      });
      return { shown: await describe(caller, objectName), ignored };
    },

    /** Renames a resource at the highest level that the caller may change, and below it. @throws AppError */
    rename: async (caller: MappingCaller, from: string, to: string) => {
      const owner = await highestChangeable(caller, from);
      await definitions.rename(owner, from, to, ['body', 'name']);
      return describe(caller, to);
    },

    /**
     * Deletes the definitions of a name at all levels that the caller sees and may change.
     * @param force also deletes the transformations of these levels and of those below them
     * @throws AppError
     */
    remove: async (caller: MappingCaller, name: string, { force }: { readonly force: boolean }) => {
      await highestChangeable(caller, name);
      const owners = (await visible.get(caller, name))
        .filter(({ level }) => caller.mayChange(level))
        .map((one) => ownerOf(caller, one));
      await changeMappings(caller.organizationId, async (change) => {
        const fields: Record<string, unknown> = {};
        for (const owner of owners) {
          if (force) for (const user of await change.store.removeUses(owner, name)) change.touch(user);
          else await assertUnused(change.store, owner, [name]);
          fields[owner.level] = { from: (await change.store.findDefinition(owner, name))?.fields };
          await change.store.removeDefinition(owner, name);
          change.touch(owner);
        }
        return { result: undefined, note: { targetId: name, changes: fields } };
      });
    },
  };
}

function idOf(owner: Owner): number {
  return Number(ownerKey(owner).split(' ').at(-1));
}
