import type { Clock } from '../clock.ts';
import type { Registry } from '../connector/registry.ts';
import { differences } from '../db/change.ts';
import type { PoolShares } from '../db/pool-shares.ts';
import { AppError, cutText, invalidRequest, pointer } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { ChangeMappings, MappingCaller, MappingChange } from './changes.ts';
import { checkName, readDefinition } from './check-definition.ts';
import { type FindSyntaxFault, lowestScript, readTransformation } from './check-transformation.ts';
import { assertUnused, type Definitions, type IgnoredFields, putFields } from './definitions.ts';
import { createFaults, isObject } from './faults.ts';
import type { DefinitionField, Level, Leveled } from './model.ts';
import { LEVELS } from './model.ts';
import { type Owner, ownerKey, ownersUpwards } from './owner.ts';
import { createMappingStore, type MappingStore, type VisibleDefinition, type VisibleTo } from './store.ts';
import { type Transformations, writeTransformation } from './transformations.ts';

/** A definition with the fields of all levels that an account sees. */
export interface CommonResource {
  readonly name: string;
  readonly fields: readonly AssociatedField[];
  /** Instances with a transformation of their own. */
  readonly elementInstanceIds: readonly number[];
  /** Elements with a transformation. */
  readonly mappedElementIds: readonly number[];
}

/** A field with the level that it is stored at. */
export interface AssociatedField extends DefinitionField {
  readonly associatedLevel: Level;
  /** The id of the organization, the account or the instance. */
  readonly associatedId: number;
}

/** A definition in a list of all that an account sees. */
export interface VdrRow {
  /** The id of a stored definition; the name of one of the catalogue. */
  readonly id: string;
  readonly name: string;
  /** The name again, under the name that it has in a file. Clients that export read it. */
  readonly objectName: string;
  readonly level: Level | 'system';
  /** The instance of a definition at the level of an instance. */
  readonly instanceId?: number;
}

export interface Vdr extends VdrRow {
  readonly fields: readonly (DefinitionField & { readonly level: Level | 'system' })[];
  readonly elementKeys: readonly string[];
}

/** A definition and its transformations, as they are exported to a file. */
export interface VdrExport {
  readonly definition: { readonly objectName: string; readonly fields: readonly Leveled<DefinitionField>[] };
  readonly transformation: Readonly<Record<string, Awaited<ReturnType<Transformations['get']>>>>;
}

export interface CommonResourcePorts {
  readonly store: MappingStore;
  readonly shares: Pick<PoolShares, 'list'>;
  readonly changeMappings: ChangeMappings;
  readonly clock: Pick<Clock, 'now'>;
  readonly registry: Pick<Registry, 'getConnector' | 'findConnector'>;
  readonly catalogue: Catalogue;
  readonly definitions: Pick<Definitions, 'rename' | 'remove'>;
  readonly transformations: Pick<Transformations, 'get'>;
  readonly findSyntaxFault: FindSyntaxFault | undefined;
  readonly reservedNames: ReadonlySet<string>;
}

/** Finds an instance of the caller. @throws AppError NOT_FOUND */
export type GetInstance = (id: number) => Promise<{ readonly connector: { readonly key: string } }>;

/** The transformations of the catalogue to take over. */
export interface TakeOver {
  readonly objectName: string;
  /** The elements whose transformations are taken over. Default: all. */
  readonly elementKeys?: readonly string[] | undefined;
}

export type CommonResources = ReturnType<typeof createCommonResources>;

/** Maximum number of definitions in a list, and of places where one is used. */
const MOST_ROWS = 10_000;
/** Maximum number of instances whose fields a resource shows. */
const MOST_LEVELS = 200;

export function createCommonResources(ports: CommonResourcePorts) {
  const { store, shares, changeMappings, clock, registry, catalogue, definitions, transformations } = ports;

  function listVisible(to: VisibleTo, objectName?: string): Promise<readonly VisibleDefinition[]> {
    const filter = objectName === undefined ? { limit: MOST_ROWS } : { objectName, limit: MOST_ROWS };
    return shares.list(to.accountId, (via) => createMappingStore(via).listVisible(to, filter));
  }

  /** @throws AppError NOT_FOUND */
  async function getVisible(to: VisibleTo, name: string): Promise<readonly VisibleDefinition[]> {
    const visible = await listVisible(to, name);
    if (visible.length > 0) return visible;
    const all = await listVisible(to);
    throw missing(
      'common resource',
      name,
      all.map(({ objectName }) => objectName),
    );
  }

  async function describe(to: VisibleTo, name: string): Promise<CommonResource> {
    const levels = (await getVisible(to, name)).slice(0, MOST_LEVELS);
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

  /** The highest level that the caller may change, of those that have the definition. @throws AppError FORBIDDEN, NOT_FOUND */
  async function highestChangeable(caller: MappingCaller, name: string): Promise<Owner> {
    const levels = await getVisible(caller, name);
    const found = levels.find(({ level }) => caller.mayChange(level));
    if (found !== undefined) return ownerOf(caller, found);
    caller.assertMayChange(levels[0]?.level ?? 'organization');
    throw missing('common resource', name);
  }

  function defaultLevel(caller: MappingCaller): 'organization' | 'account' {
    return caller.mayChange('organization') ? 'organization' : 'account';
  }

  /** Replaces the fields of every owner that fields name. Fields of levels that the caller may not change are left out. */
  async function putByOwner(
    change: MappingChange,
    caller: MappingCaller,
    objectName: string,
    parts: ReadonlyMap<Owner, readonly DefinitionField[]>,
  ): Promise<readonly IgnoredFields[]> {
    const ignored: IgnoredFields[] = [];
    // Lower levels are checked against what is new above them.
    const highestFirst = [...parts].toSorted(
      ([one], [other]) => LEVELS.indexOf(other.level) - LEVELS.indexOf(one.level),
    );
    for (const [owner, fields] of highestFirst) {
      if (!caller.mayChange(owner.level)) {
        const stored = (await change.store.findDefinition(owner, objectName))?.fields ?? [];
        const known = new Set(stored.map((field) => JSON.stringify([field.path, field.type])));
        const paths = fields
          .filter(({ path, type }) => !known.has(JSON.stringify([path, type])))
          .map(({ path }) => path);
        if (paths.length > 0) ignored.push({ level: owner.level, paths });
      } else await putFields(change, { owner, objectName, fields, place: ['body'] });
    }
    return ignored;
  }

  /** @throws AppError REQUEST_INVALID that names every unknown element of a file */
  function assertElements(keysOrIds: readonly string[]): void {
    const faults = createFaults('body', 'transformation');
    for (const keyOrId of keysOrIds)
      if (registry.findConnector(keyOrId) === undefined)
        faults.note([keyOrId], `cannot be imported, because there is no element '${cutText(keyOrId)}'. Leave it out.`);
    faults.throwIfAny();
  }

  function assertName(objectName: string, ...place: readonly string[]): void {
    const faults = createFaults('body');
    checkName(objectName, place, faults, ports.reservedNames);
    faults.throwIfAny();
  }

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

  /** The lowest of the levels of a name, an id, or a name of the catalogue. @throws AppError NOT_FOUND */
  async function findVdr(to: VisibleTo, idOrName: string) {
    const all = await listVisible(to);
    const byId = /^\d+$/.test(idOrName) ? all.find(({ id }) => String(id) === idOrName) : undefined;
    const named = all.filter(({ objectName, level }) => objectName === idOrName && level !== 'instance');
    const visible = byId ?? named.at(-1);
    if (visible !== undefined) return { row: toVdrRow(visible), visible };
    if (catalogue.definitions.has(idOrName)) return { row: systemRow(idOrName), visible: undefined };
    const known = [...all.map(({ objectName }) => objectName), ...catalogue.definitions.keys()];
    throw missing('virtual data resource', idOrName, known);
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
      await putFields(change, { owner, objectName, fields: definition.fields, place: ['body'] });
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

    /** Returns the names of the definitions that an account sees. */
    listNames: async (to: VisibleTo): Promise<readonly string[]> => [
      ...new Set((await listVisible(to)).map(({ objectName }) => objectName)),
    ],

    /** @throws AppError NOT_FOUND */
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
      assertName(objectName, 'name');
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
      const owners = (await getVisible(caller, name))
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

    /** Returns the definitions that an account sees, or those of the catalogue. */
    listVdrs: async (to: VisibleTo, { systemOnly }: { readonly systemOnly: boolean }): Promise<readonly VdrRow[]> =>
      systemOnly ? [...catalogue.definitions.keys()].map(systemRow) : (await listVisible(to)).map(toVdrRow),

    /** @throws AppError NOT_FOUND */
    getVdr: async (to: VisibleTo, idOrName: string): Promise<Vdr> => {
      const { row, visible } = await findVdr(to, idOrName);
      return vdrOf(to, row, visible);
    },

    /** @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT where it is used, or belongs to the catalogue */
    removeVdr: async (caller: MappingCaller, idOrName: string): Promise<VdrRow> => {
      const { row, visible } = await findVdr(caller, idOrName);
      if (visible === undefined)
        throw new AppError('CONFLICT', `'${cutText(idOrName)}' is part of the catalogue and cannot be deleted.`);
      caller.assertMayChange(visible.level);
      await definitions.remove(ownerOf(caller, visible), visible.objectName);
      return row;
    },

    /** Returns a definition and its transformations as a file. Fields have their levels. @throws AppError NOT_FOUND */
    exportVdr: async (to: VisibleTo, name: string): Promise<VdrExport> => {
      const levels = (await getVisible(to, name)).filter(({ level }) => level !== 'instance');
      const fields: Leveled<DefinitionField>[] = [];
      for (const one of levels) {
        const found = await store.findDefinition(ownerOf(to, one), name);
        for (const field of found?.fields ?? []) fields.push({ ...field, level: one.level });
      }
      const keys = new Set<string>();
      for (const { elementKey, instanceId } of await store.listVisibleUses(to, [name], MOST_ROWS))
        if (instanceId === null) keys.add(elementKey);
      const found: [string, VdrExport['transformation'][string]][] = [];
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
    importVdr: async (caller: MappingCaller, body: Readonly<Record<string, unknown>>, getInstance: GetInstance) => {
      const definition = isObject(body.definition) ? body.definition : {};
      const objectName = String(definition.objectName ?? body.vdrName ?? '');
      assertName(objectName, 'definition', 'objectName');
      if (body.vdrVersion === 'v1')
        throw invalidRequest([
          {
            path: pointer('body', 'vdrVersion'),
            message: "body.vdrVersion must not be 'v1', an old form of scripts that does not exist here. Send v2.",
          },
        ]);
      const level = defaultLevel(caller);
      const place = ['body', 'definition'];
      const parts = await readByOwner(caller, { objectName, fields: definition.fields, level, place }, getInstance);
      const given = isObject(body.transformation) ? Object.entries(body.transformation) : [];
      assertElements(given.map(([keyOrId]) => keyOrId));
      const read = given.map(([keyOrId, one]) => {
        const connector = registry.getConnector(keyOrId);
        const members = isObject(one) ? one : {};
        const of = { objectName, level, place: ['body', 'transformation', keyOrId] };
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
}

interface FieldsOf {
  readonly objectName: string;
  readonly fields: unknown;
  /** The level of fields that name none. */
  readonly level: 'organization' | 'account';
  readonly place?: readonly string[];
}

/** Groups fields by their owners. @throws AppError REQUEST_INVALID; NOT_FOUND for an instance */
async function readByOwner(
  caller: MappingCaller,
  { objectName, fields, level, place = ['body'] }: FieldsOf,
  getInstance: GetInstance,
): Promise<ReadonlyMap<Owner, readonly DefinitionField[]>> {
  const withLevel = withLevels(fields, level);
  // Fields of several instances may have the same path, so they are checked for each owner.
  const list: readonly unknown[] = Array.isArray(withLevel) ? withLevel : [];
  const groups = Map.groupBy(list, (field) => {
    const { associatedLevel, associatedId } = isObject(field) ? field : {};
    return associatedLevel === 'instance' ? `instance ${String(associatedId)}` : String(associatedLevel);
  });
  if (groups.size === 0) readDefinition({ fields: withLevel }, { objectName, level, place });
  const parts = new Map<Owner, readonly DefinitionField[]>();
  for (const [key, group] of groups) {
    const owner = await ownerOfFields(caller, key, getInstance);
    const { own } = readDefinition({ fields: group }, { objectName, level: owner.level, place });
    parts.set(owner, own);
  }
  if (parts.size === 0) parts.set(ownerOf(caller, { level, instanceId: null }), []);
  return parts;
}

async function ownerOfFields(caller: MappingCaller, key: string, getInstance: GetInstance): Promise<Owner> {
  const [level = '', id] = key.split(' ');
  const known = LEVELS.find((each) => each === level);
  if (known === undefined) {
    const message = `body.fields has a field with the associatedLevel '${cutText(level)}'. It must be one of ${LEVELS.join(', ')}.`;
    throw invalidRequest([{ path: pointer('body', 'fields'), message, expected: LEVELS }]);
  }
  if (known !== 'instance') return ownerOf(caller, { level: known, instanceId: null });
  const instanceId = Number(id);
  if (!Number.isSafeInteger(instanceId)) {
    const message = 'body.fields has a field of an instance without the id of the instance as associatedId.';
    throw invalidRequest([{ path: pointer('body', 'fields'), message }]);
  }
  await getInstance(instanceId);
  return ownerOf(caller, { level: 'instance', instanceId });
}

/** Names the level of fields that name none. */
function withLevels(fields: unknown, level: Level): unknown {
  if (!Array.isArray(fields)) return fields;
  return fields.map((field: unknown) => {
    if (!isObject(field)) return field;
    return { ...field, associatedLevel: field.associatedLevel ?? field.level ?? level };
  });
}

function ownerOf(
  { organizationId, accountId }: VisibleTo,
  { level, instanceId }: Pick<VisibleDefinition, 'level' | 'instanceId'>,
): Owner {
  if (level === 'organization') return { level, organizationId };
  if (level === 'account' || instanceId === null) return { level: 'account', organizationId, accountId };
  return { level, organizationId, accountId, instanceId };
}

function idOf(owner: Owner): number {
  return Number(ownerKey(owner).split(' ').at(-1));
}

function toVdrRow({ id, objectName, level, instanceId }: VisibleDefinition): VdrRow {
  return { id: String(id), name: objectName, objectName, level, ...(instanceId !== null && { instanceId }) };
}

function systemRow(name: string): VdrRow {
  return { id: name, name, objectName: name, level: 'system' };
}
