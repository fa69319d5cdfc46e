import type { Clock } from '../clock.ts';
import type { Registry } from '../connector/registry.ts';
import { differences } from '../db/change.ts';
import { AppError, cutText, invalidRequest, pointer } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import { defaultLevel, type GetInstance, ownerOf, putByOwner, readByOwner, withLevels } from './by-owner.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { ChangeMappings, MappingCaller } from './changes.ts';
import { assertName } from './check-definition.ts';
import { type FindSyntaxFault, lowestScript, readTransformation } from './check-transformation.ts';
import { type Definitions, putFields } from './definitions.ts';
import { createFaults, isObject } from './faults.ts';
import type { DefinitionField, Level, Leveled } from './model.ts';
import { type Owner, ownersUpwards } from './owner.ts';
import type { MappingStore, VisibleDefinition, VisibleTo } from './store.ts';
import { type ShownTransformation, type Transformations, writeTransformation } from './transformations.ts';
import { MOST_ROWS, type Visible } from './visible.ts';

/** A definition in a list of all that an account sees. */
interface VdrRow {
  /** The id of a stored definition; the name of one of the catalogue. */
  readonly id: string;
  readonly name: string;
  /** The name of the definition again, under the key of exported files. Clients that export read it. */
  readonly objectName: string;
  readonly level: Level | 'system';
  /** The instance of a definition at the level of an instance. */
  readonly instanceId?: number;
}

interface Vdr extends VdrRow {
  readonly fields: readonly (DefinitionField & { readonly level: Level | 'system' })[];
  readonly elementKeys: readonly string[];
}

/** A definition and its transformations, as they are exported to a file. */
interface VdrExport {
  readonly definition: { readonly objectName: string; readonly fields: readonly Leveled<DefinitionField>[] };
  readonly transformation: Readonly<Record<string, ShownTransformation>>;
}

interface VdrPorts {
  readonly store: MappingStore;
  readonly visible: Visible;
  readonly changeMappings: ChangeMappings;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly catalogue: Catalogue;
  readonly definitions: Definitions;
  readonly transformations: Transformations;
  readonly findSyntaxFault: FindSyntaxFault | undefined;
  readonly reservedNames: ReadonlySet<string>;
}

/** The transformations of the catalogue to take over. */
interface TakeOver {
  readonly objectName: string;
  /** The elements whose transformations are taken over. Default: all. */
  readonly elementKeys?: readonly string[] | undefined;
}

/** Virtual data resources: a later name of definitions, as the clients that export and import them use it. */
export function createVdrs(ports: VdrPorts) {
  const { store, visible: all, changeMappings, clock, registry, catalogue, definitions, transformations } = ports;

  function vdrOf(to: VisibleTo, row: VdrRow, visible: VisibleDefinition | undefined): Promise<Vdr> {
    return visible === undefined ? Promise.resolve(vdrOfCatalogue(row)) : storedVdr(to, row, visible);
  }

  async function storedVdr(to: VisibleTo, row: VdrRow, visible: VisibleDefinition): Promise<Vdr> {
    const { level, objectName } = visible;
    const definition = await store.findDefinition(ownerOf(to, visible), objectName);
    const uses = await store.listVisibleUses(to, [objectName], MOST_ROWS);
    return {
      ...row,
      fields: (definition?.fields ?? []).map((field) => ({ ...field, level })),
      elementKeys: [...new Set(uses.map(({ elementKey }) => elementKey))].toSorted(),
    };
  }

  function vdrOfCatalogue(row: VdrRow): Vdr {
    const { fields } = catalogue.getDefinition(row.name);
    const elementKeys = [...catalogue.transformationsOf(row.name).keys()].toSorted();
    return { ...row, fields: fields.map((field) => ({ ...field, level: 'system' as const })), elementKeys };
  }

  /**
   * Finds a definition by its id, its name, or a name of the catalogue. For a name at several levels, it returns the lowest one.
   * @throws AppError NOT_FOUND
   */
  async function findVdr(to: VisibleTo, idOrName: string) {
    const known = await all.list(to);
    const byId = /^\d+$/.test(idOrName) ? known.find(({ id }) => String(id) === idOrName) : undefined;
    const named = known.filter(({ objectName, level }) => objectName === idOrName && level !== 'instance');
    const visible = byId ?? named.at(-1);
    if (visible !== undefined) return { row: toVdrRow(visible), visible };
    if (catalogue.definitions.has(idOrName)) return { row: systemRow(idOrName), visible: undefined };
    const names = [...known.map(({ objectName }) => objectName), ...catalogue.definitions.keys()];
    throw missing('virtual data resource', idOrName, names);
  }

  /** Copies a definition of the catalogue and transformations to a level. @throws AppError NOT_FOUND, CONFLICT */
  async function takeOver(owner: Owner, elementOfInstance: string | undefined, { objectName, elementKeys }: TakeOver) {
    const definition = catalogue.getDefinition(objectName);
    const available = catalogue.transformationsOf(objectName);
    const unknown = elementKeys?.find((key) => !available.has(key));
    if (unknown !== undefined)
      throw missing(`transformation of '${objectName}' in the catalogue for the element`, unknown, available.keys());
    const wanted = [...available].filter(
      ([key]) =>
        (elementKeys === undefined || elementKeys.includes(key)) &&
        (elementOfInstance === undefined || key === elementOfInstance),
    );
    return changeMappings(owner.organizationId, async (change) => {
      if ((await change.store.findDefinition(owner, objectName)) !== undefined)
        throw new AppError('CONFLICT', `The definition '${objectName}' exists already at the level ${owner.level}.`);
      await putFields(change, { owner, objectName, fields: definition.fields, segments: ['body'] });
      for (const [key, transformation] of wanted) {
        const isThere = (await change.store.findTransformation(owner, key, objectName)) !== undefined;
        if (!isThere) await change.store.putTransformation(owner, key, transformation, new Date(clock.now()));
      }
      const changes = differences({}, { fields: definition.fields, transformations: wanted.map(([key]) => key) });
      return { result: undefined, note: { targetId: objectName, changes } };
    });
  }

  return {
    takeOver,

    /** Returns the definitions that an account sees, or those of the catalogue. */
    list: async (to: VisibleTo, { systemOnly }: { readonly systemOnly: boolean }): Promise<readonly VdrRow[]> =>
      systemOnly ? [...catalogue.definitions.keys()].map(systemRow) : (await all.list(to)).map(toVdrRow),

    /**
     * Returns a definition with its levels.
     * @throws AppError NOT_FOUND
     */
    get: async (to: VisibleTo, idOrName: string): Promise<Vdr> => {
      const { row, visible } = await findVdr(to, idOrName);
      return vdrOf(to, row, visible);
    },

    /**
     * Deletes a definition.
     * @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT if it is used, or belongs to the catalogue
     */
    remove: async (caller: MappingCaller, idOrName: string): Promise<VdrRow> => {
      const { row, visible } = await findVdr(caller, idOrName);
      if (visible === undefined)
        throw new AppError('CONFLICT', `'${cutText(idOrName)}' is part of the catalogue and cannot be deleted.`);
      caller.assertMayChange(visible.level);
      await definitions.remove(ownerOf(caller, visible), visible.objectName);
      return row;
    },

    /** Returns a definition and its transformations as a file. Fields have their levels. @throws AppError NOT_FOUND */
    export: async (to: VisibleTo, name: string): Promise<VdrExport> => {
      const levels = (await all.get(to, name)).filter(({ level }) => level !== 'instance');
      const fields: Leveled<DefinitionField>[] = [];
      for (const one of levels) {
        const found = await store.findDefinition(ownerOf(to, one), name);
        for (const field of found?.fields ?? []) fields.push({ ...field, level: one.level });
      }
      const keys = new Set<string>();
      for (const { elementKey, instanceId } of await store.listVisibleUses(to, [name], MOST_ROWS))
        if (instanceId === null) keys.add(elementKey);
      const found: [string, ShownTransformation][] = [];
      for (const key of keys) {
        const connector = registry.findConnector(key);
        if (connector === undefined) continue;
        for (const owner of ownersUpwards({ level: 'account', ...to })) {
          if ((await store.findTransformation(owner, key, name)) === undefined) continue;
          found.push([key, await transformations.get({ owner, connector, objectName: name })]);
          break;
        }
      }
      return { definition: { objectName: name, fields }, transformation: Object.fromEntries(found) };
    },

    /**
     * Creates or replaces a definition and transformations from a file. Fields go to the levels that they name. A script and a configuration
     * go to the highest level that the caller may change, and with fields of the own account also to that account.
     * @throws AppError REQUEST_INVALID
     */
    import: async (caller: MappingCaller, body: Readonly<Record<string, unknown>>, getInstance: GetInstance) => {
      const definition = isObject(body.definition) ? body.definition : {};
      const objectName = String(definition.objectName ?? body.vdrName ?? '');
      assertName(objectName, ['body', 'definition', 'objectName'], ports.reservedNames);
      if (body.vdrVersion === 'v1')
        throw invalidRequest([
          {
            path: pointer('body', 'vdrVersion'),
            message: "body.vdrVersion must not be 'v1', an old form of scripts that does not exist here. Send v2.",
          },
        ]);
      const level = defaultLevel(caller);
      const segments = ['body', 'definition'];
      const parts = await readByOwner(caller, { objectName, fields: definition.fields, level, segments }, getInstance);
      const given = isObject(body.transformation) ? Object.entries(body.transformation) : [];
      assertElements(given.map(([keyOrId]) => keyOrId));
      const read = given.map(([keyOrId, one]) => {
        const connector = registry.getConnector(keyOrId);
        const members = isObject(one) ? one : {};
        const of = { objectName, level, segments: ['body', 'transformation', keyOrId] };
        const fields = withLevels(members.fields, level);
        // The level of a file is that of its fields: it may have been exported elsewhere.
        const { level: _, ...rest } = members;
        const { findSyntaxFault } = ports;
        // Clients that read a folder put the scripts that were edited there into `scripts`, and leave `script` as it was exported.
        const script = lowestScript(members.scripts) ?? members.script;
        return {
          connector,
          given: readTransformation({ ...rest, fields, script }, of, { connector, findSyntaxFault }),
        };
      });
      const ignored = await changeMappings(caller.organizationId, async (change) => {
        const found = [...(await putByOwner(change, caller, objectName, parts))];
        const write = { caller, owner: ownerOf(caller, { level, instanceId: null }), objectName };
        const at = new Date(clock.now());
        for (const { connector, given: transformation } of read)
          found.push(...(await writeTransformation(change, { ...write, connector, given: transformation }, at)));
        const elements = read.map(({ connector }) => connector.key);
        return { result: found, note: { targetId: objectName, changes: { import: { to: { elements } } } } };
      });
      const { row, visible } = await findVdr(caller, objectName);
      return { shown: await vdrOf(caller, row, visible), ignored };
    },
  };

  /**
   * Asserts that all elements of a file exist.
   * @throws AppError REQUEST_INVALID that names every unknown element
   */
  function assertElements(keysOrIds: readonly string[]): void {
    const faults = createFaults('body', 'transformation');
    for (const keyOrId of keysOrIds)
      if (registry.findConnector(keyOrId) === undefined)
        faults.note([keyOrId], `cannot be imported, because there is no element '${cutText(keyOrId)}'. Leave it out.`);
    faults.throwIfAny();
  }
}

function toVdrRow({ id, objectName, level, instanceId }: VisibleDefinition): VdrRow {
  return { id: String(id), name: objectName, objectName, level, ...(instanceId !== null && { instanceId }) };
}

function systemRow(name: string): VdrRow {
  return { id: name, name, objectName: name, level: 'system' };
}
