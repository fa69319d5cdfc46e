import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { differences } from '../db/change.ts';
import { isUniqueViolation } from '../db/violations.ts';
import { AppError, cutText } from '../errors.ts';
import type { ChangeMappings, MappingCaller, MappingChange } from './changes.ts';
import { noDefinition } from './changes.ts';
import { assertName, checkContainers, type GivenDefinition, readDefinition } from './check-definition.ts';
import { createFaults, type PointerSegments } from './faults.ts';
import { mergeDefinitions } from './in-force.ts';
import type { DefinitionField, Level, Leveled } from './model.ts';
import { type Owner, ownAccount, ownersUpwards, readUpwards } from './owner.ts';
import type { MappingStore, TransformationUse } from './store.ts';

/** A definition as a level has it. */
export interface ShownDefinition {
  readonly objectName: string;
  readonly level: Level;
  readonly fields: readonly Leveled<DefinitionField>[];
}

/** A change that left some of what was given aside. */
export interface Written<Shown> {
  readonly shown: Shown;
  /** The fields that the caller may not change: their paths, by level. */
  readonly ignored: readonly IgnoredFields[];
}

export interface IgnoredFields {
  readonly level: Level;
  readonly paths: readonly string[];
}

interface DefinitionPorts {
  readonly store: MappingStore;
  readonly changeMappings: ChangeMappings;
  readonly clock: Clock;
  /** Names that paths of the platform begin with. */
  readonly reservedNames: ReadonlySet<string>;
}

export type Definitions = ReturnType<typeof createDefinitions>;

/** A definition to write. */
interface DefinitionWrite {
  readonly caller: MappingCaller;
  readonly owner: Owner;
  readonly objectName: string;
  readonly given: GivenDefinition;
  readonly segments: PointerSegments;
}

export function createDefinitions({ store, changeMappings, clock, reservedNames }: DefinitionPorts) {
  return {
    /** Returns the definitions of a level, without those above it. */
    list: async (owner: Owner): Promise<readonly ShownDefinition[]> =>
      (await store.listDefinitions(owner)).map((definition) => show(definition, owner.level)),

    /**
     * Returns a definition of a level.
     * @throws AppError NOT_FOUND
     */
    get: async (owner: Owner, objectName: string): Promise<ShownDefinition> => {
      const definition = await store.findDefinition(owner, objectName);
      if (definition === undefined) throw await unknownDefinition(store, owner, objectName);
      return show(definition, owner.level);
    },

    /**
     * Adds definitions by their names.
     * @throws AppError REQUEST_INVALID; CONFLICT where the level has one of the names
     */
    create: async (
      caller: MappingCaller,
      owner: Owner,
      bodies: Readonly<Record<string, unknown>>,
      segmentsOf: (objectName: string) => { readonly name: PointerSegments; readonly body: PointerSegments },
    ): Promise<Written<readonly ShownDefinition[]>> => {
      const given = Object.entries(bodies).map(([objectName, body]) => {
        const { name, body: segments } = segmentsOf(objectName);
        assertName(objectName, name, reservedNames);
        return { objectName, given: readDefinition(body, { objectName, level: owner.level, segments }), segments };
      });
      return changeMappings(owner.organizationId, async (change) => {
        const taken = await change.store.findNames(owner, Object.keys(bodies));
        if (taken.length > 0) throw alreadyThere(taken, owner);
        const ignored: IgnoredFields[] = [];
        for (const one of given) ignored.push(...(await writeDefinition(change, { ...one, caller, owner })));
        const shown = given.map(({ objectName, given: { own } }) => show({ objectName, fields: own }, owner.level));
        return {
          result: { shown, ignored },
          note: {
            ...(shown.length === 1 && { targetId: shown[0]?.objectName ?? '' }),
            changes: Object.fromEntries(shown.map(({ objectName, fields }) => [objectName, { to: fields }])),
          },
        };
      });
    },

    /**
     * Replaces a definition.
     * @throws AppError REQUEST_INVALID, NOT_FOUND
     */
    replace: async (
      caller: MappingCaller,
      owner: Owner,
      objectName: string,
      body: unknown,
    ): Promise<Written<ShownDefinition>> => {
      const segments = ['body'];
      const given = readDefinition(body, { objectName, level: owner.level });
      return changeMappings(owner.organizationId, async (change) => {
        const before = await change.store.findDefinition(owner, objectName);
        if (before === undefined) throw await unknownDefinition(change.store, owner, objectName);
        const ignored = await writeDefinition(change, { caller, owner, objectName, given, segments });
        const shown = show({ objectName, fields: given.own }, owner.level);
        const changes = differences({ fields: before.fields }, { fields: given.own });
        return { result: { shown, ignored }, note: { targetId: objectName, changes } };
      });
    },

    /**
     * Renames a definition and its transformations, at its level and below it.
     * @throws AppError REQUEST_INVALID, NOT_FOUND; CONFLICT where the name is taken
     */
    rename: async (owner: Owner, from: string, to: string, segments: PointerSegments): Promise<ShownDefinition> => {
      assertName(to, segments, reservedNames);
      return changeMappings(owner.organizationId, async ({ store: stored, touch }) => {
        const definition = await stored.findDefinition(owner, from);
        if (definition === undefined) throw await unknownDefinition(stored, owner, from);
        if (from !== to) {
          if ((await stored.findDefinition(owner, to)) !== undefined) throw alreadyThere([to], owner);
          touch(owner);
          for (const below of await renameStored(stored, owner, { from, to, at: new Date(clock.now()) })) touch(below);
        }
        const changes = differences({ objectName: from }, { objectName: to });
        return { result: show({ ...definition, objectName: to }, owner.level), note: { targetId: from, changes } };
      });
    },

    /**
     * Deletes a definition of a level.
     * @throws AppError NOT_FOUND; CONFLICT where a transformation of the level or below it uses it
     */
    remove: async (owner: Owner, objectName: string): Promise<void> =>
      changeMappings(owner.organizationId, async ({ store: stored, touch }) => {
        const definition = await stored.findDefinition(owner, objectName);
        if (definition === undefined) throw await unknownDefinition(stored, owner, objectName);
        await assertUnused(stored, owner, [objectName]);
        await stored.removeDefinition(owner, objectName);
        touch(owner);
        const changes = differences({ fields: definition.fields }, {});
        return { result: undefined, note: { targetId: objectName, changes } };
      }),

    /**
     * Deletes all definitions of a level.
     * @returns their names
     * @throws AppError CONFLICT where transformations of the level or below it use some
     */
    removeAll: async (owner: Owner): Promise<readonly string[]> =>
      changeMappings(owner.organizationId, async ({ store: stored, touch }) => {
        const definitions = await stored.listDefinitions(owner);
        const names = definitions.map(({ objectName }) => objectName);
        await assertUnused(stored, owner, names);
        for (const name of names) await stored.removeDefinition(owner, name);
        touch(owner);
        const changes = Object.fromEntries(definitions.map(({ objectName, fields }) => [objectName, { from: fields }]));
        return { result: names, note: { changes } };
      }),
  };
}

/**
 * Stores a definition at its level, and the fields that name another level there. Fields of the own account replace those that it has.
 * @returns the fields that the caller may not change
 * @throws AppError REQUEST_INVALID
 */
async function writeDefinition(
  { store, touch }: MappingChange,
  { caller, owner, objectName, given, segments }: DefinitionWrite,
): Promise<readonly IgnoredFields[]> {
  const [, ...above] = ownersUpwards(owner);
  const ignored: IgnoredFields[] = [];
  for (const higher of above) {
    const stored = (await store.findDefinition(higher, objectName))?.fields ?? [];
    const changed = (given.others.get(higher.level) ?? []).filter(
      (field) => !stored.some((known) => isDeepStrictEqual(known, field)),
    );
    if (changed.length === 0) continue;
    if (!caller.mayChange(higher.level)) ignored.push({ level: higher.level, paths: changed.map(({ path }) => path) });
    else await putFields({ store, touch }, { owner: higher, objectName, fields: [...stored, ...changed], segments });
  }
  await putFields({ store, touch }, { owner, objectName, fields: given.own, segments });
  const ofAccount = owner.level === 'organization' ? (given.others.get('account') ?? []) : [];
  if (ofAccount.length === 0) return ignored;
  caller.assertMayChange('account');
  await putFields({ store, touch }, { owner: ownAccount(caller), objectName, fields: ofAccount, segments });
  return ignored;
}

interface FieldsToPut {
  readonly owner: Owner;
  readonly objectName: string;
  /** The last one of two with the same path is stored. */
  readonly fields: readonly DefinitionField[];
  readonly segments: PointerSegments;
}

/**
 * Stores the fields of a definition.
 * @throws AppError REQUEST_INVALID if fields contradict each other or those of a higher level
 */
export async function putFields(
  { store, touch }: MappingChange,
  { owner, objectName, fields, segments }: FieldsToPut,
): Promise<void> {
  const own = [...new Map(fields.map((field) => [field.path, field])).values()];
  const levels = await readUpwards(owner, async (one) =>
    one.level === owner.level ? { objectName, fields: own } : store.findDefinition(one, objectName),
  );
  const merged = mergeDefinitions(levels);
  const faults = createFaults(...segments);
  checkContainers(merged, new Map(own.map(({ path }, index) => [path, ['fields', String(index)]])), faults);
  faults.throwIfAny();
  await store.putDefinition(owner, { objectName, fields: own });
  touch(owner);
}

async function renameStored(
  store: MappingStore,
  owner: Owner,
  { from, to, at }: { readonly from: string; readonly to: string; readonly at: Date },
): Promise<readonly Owner[]> {
  try {
    return await store.rename(owner, from, to, at);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const message = `A level below ${owner.level} has '${cutText(to)}' already. Choose another name.`;
    throw new AppError('CONFLICT', message, { cause: error });
  }
}

function alreadyThere(names: readonly string[], { level }: Owner): AppError {
  const listed = names.map((name) => `'${cutText(name)}'`).join(', ');
  const subject = names.length === 1 ? `The definition ${listed} exists` : `The definitions ${listed} exist`;
  return new AppError('CONFLICT', `${subject} already at the level ${level}. Use PUT to change a definition.`);
}

async function unknownDefinition(store: MappingStore, owner: Owner, objectName: string): Promise<AppError> {
  const known = await store.listDefinitions(owner);
  return noDefinition(
    objectName,
    owner,
    known.map((each) => each.objectName),
  );
}

/** Number of uses that an error lists. */
const MOST_USES = 10;

/**
 * Asserts that no transformation uses the definitions.
 * @throws AppError CONFLICT that says where they are used
 */
export async function assertUnused(store: MappingStore, owner: Owner, names: readonly string[]): Promise<void> {
  const uses = await store.listUses(owner, names, MOST_USES + 1);
  if (uses.length === 0) return;
  const used = [...Map.groupBy(uses.slice(0, MOST_USES), ({ objectName }) => objectName)];
  const sentences = used.map(
    ([name, usesOfName]) =>
      `The definition '${name}' is used by the transformations of ${usesOfName.map(describeUse).join(', of ')}.`,
  );
  const more = uses.length > MOST_USES ? ' There are more.' : '';
  throw new AppError('CONFLICT', `${sentences.join(' ')}${more} Delete the transformations first.`);
}

function describeUse({ level, elementKey, accountId, instanceId }: TransformationUse): string {
  if (level === 'organization') return `${elementKey} (organization)`;
  return level === 'account' ? `${elementKey} (account ${accountId})` : `instance ${instanceId}`;
}

function show(
  { objectName, fields }: { readonly objectName: string; readonly fields: readonly DefinitionField[] },
  level: Level,
): ShownDefinition {
  return { objectName, level, fields: fields.map((field) => ({ ...field, level })) };
}
