import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { Connector } from '../connector/contract.ts';
import { differences } from '../db/change.ts';
import { AppError, cutText } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import type { FieldType } from '../where/index.ts';
import type { ChangeMappings, MappingCaller, MappingChange } from './changes.ts';
import { checkContainers } from './check-definition.ts';
import { type FindSyntaxFault, type GivenTransformation, readTransformation } from './check-transformation.ts';
import { type IgnoredFields, putFields, type Written } from './definitions.ts';
import { createFaults, type PointerSegments } from './faults.ts';
import { mergeDefinitions, mergeTransformations } from './in-force.ts';
import type {
  DefinitionField,
  Level,
  Leveled,
  MappedType,
  MappingScript,
  Transformation,
  TransformationEntry,
  TransformationField,
} from './model.ts';
import { type OfLevel, type Owner, ownAccount, ownersUpwards, readUpwards } from './owner.ts';
import type { MappingStore, StoredTransformation } from './store.ts';

/** A transformation as a level shows it, with the fields that it inherits. */
export interface ShownTransformation {
  readonly objectName: string;
  readonly vendorName: string;
  readonly level: Level;
  readonly elementKey: string;
  readonly changedAt: Date;
  readonly fields: readonly Leveled<TransformationField>[];
  readonly configuration: readonly TransformationEntry[];
  readonly script?: MappingScript;
}

interface TransformationPorts {
  readonly store: MappingStore;
  readonly changeMappings: ChangeMappings;
  readonly clock: Clock;
  readonly findSyntaxFault: FindSyntaxFault | undefined;
}

/** Names the transformation that a request is about. */
interface TransformationTarget {
  readonly owner: Owner;
  readonly connector: Connector;
  readonly objectName: string;
}

/** Whether a transformation must be there before it is written, or must not. */
type Expectation = 'new' | 'there' | 'any';

interface TransformationWrite extends TransformationTarget {
  readonly caller: MappingCaller;
  readonly given: GivenTransformation;
  /** Stores only what names a higher level. */
  readonly skipsOwn?: boolean;
}

export type Transformations = ReturnType<typeof createTransformations>;

export function createTransformations({ store, changeMappings, clock, findSyntaxFault }: TransformationPorts) {
  async function put(
    caller: MappingCaller,
    target: TransformationTarget,
    body: unknown,
    expectation: Expectation,
  ): Promise<Written<ShownTransformation>> {
    const { owner, connector, objectName } = target;
    const given = readTransformation(body, { objectName, level: owner.level }, { connector, findSyntaxFault });
    return changeMappings(owner.organizationId, async (change) => {
      const before = await change.store.findTransformation(owner, connector.key, objectName);
      if (expectation === 'new' && before !== undefined) throw alreadyThere(target);
      if (expectation === 'there' && before === undefined) throw noTransformation(target);
      const at = new Date(clock.now());
      // Where every field goes to another level, an empty transformation would hide those above it, or be in force for other accounts.
      const isOfOthers =
        expectation === 'any' &&
        before === undefined &&
        given.own.length === 0 &&
        given.others.size > 0 &&
        given.script === undefined;
      const ignored = await writeTransformation(change, { ...target, caller, given, skipsOwn: isOfOthers }, at);
      const isOfAccount = isOfOthers && owner.level === 'organization';
      const shown = await showLowest(change.store, isOfAccount ? { ...target, owner: ownAccount(caller) } : target);
      const after = await change.store.findTransformation(owner, connector.key, objectName);
      const changes = differences(toAudit(before), toAudit(after));
      return { result: { shown, ignored }, note: { targetId: objectName, changes } };
    });
  }

  return {
    /** Returns the transformations of a level for an element, each with the fields that it inherits. */
    list: async (owner: Owner, connector: Connector): Promise<readonly ShownTransformation[]> => {
      const [own, ...above] = await readUpwards(owner, (one) => store.listTransformations(one, connector.key));
      const definitions = await readUpwards(owner, store.listDefinitions);
      return (own?.value ?? []).map((value) => {
        const { objectName } = value;
        const levels = [{ level: owner.level, value }, ...pick(above, objectName)] as const;
        return show(connector.key, levels, mergeDefinitions(pick(definitions, objectName)));
      });
    },

    /**
     * Returns a transformation.
     * @throws AppError NOT_FOUND
     */
    get: (target: TransformationTarget): Promise<ShownTransformation> => showTransformation(store, target),

    /**
     * Adds a transformation. Fields that the definition does not have are added to it.
     * @throws AppError REQUEST_INVALID; NOT_FOUND without a definition; CONFLICT where there is one
     */
    create: (caller: MappingCaller, target: TransformationTarget, body: unknown) => put(caller, target, body, 'new'),

    /**
     * Replaces a transformation.
     * @throws AppError REQUEST_INVALID, NOT_FOUND
     */
    replace: (caller: MappingCaller, target: TransformationTarget, body: unknown) => put(caller, target, body, 'there'),

    /**
     * Creates or replaces a transformation.
     * @throws AppError REQUEST_INVALID, NOT_FOUND without a definition
     */
    put: (caller: MappingCaller, target: TransformationTarget, body: unknown) => put(caller, target, body, 'any'),

    /**
     * Deletes a transformation of a level.
     * @param propagate also removes its fields from the definition of the level, as far as no other transformation maps them
     * @throws AppError NOT_FOUND
     */
    remove: async (target: TransformationTarget, { propagate }: { readonly propagate: boolean }): Promise<void> => {
      const { owner, connector, objectName } = target;
      await changeMappings(owner.organizationId, async (change) => {
        const before = await change.store.findTransformation(owner, connector.key, objectName);
        if (before === undefined) throw noTransformation(target);
        await removeTransformations(change, { owner, propagate, transformations: [before] });
        return { result: undefined, note: { targetId: objectName, changes: differences(toAudit(before), {}) } };
      });
    },

    /**
     * Deletes the transformations of a level for an element.
     * @returns the names of their objects
     */
    removeAll: async (
      owner: Owner,
      connector: Connector,
      { propagate }: { readonly propagate: boolean },
    ): Promise<readonly string[]> =>
      changeMappings(owner.organizationId, async (change) => {
        const transformations = await change.store.listTransformations(owner, connector.key);
        await removeTransformations(change, { owner, propagate, transformations });
        const changes = Object.fromEntries(transformations.map((one) => [one.objectName, { from: toAudit(one) }]));
        return { result: transformations.map(({ objectName }) => objectName), note: { changes } };
      }),
  };
}

/**
 * Stores a transformation at its level, and the fields that name another level there.
 * @returns the fields that the caller may not change
 * @throws AppError REQUEST_INVALID, NOT_FOUND without a definition
 */
export async function writeTransformation(
  change: MappingChange,
  write: TransformationWrite,
  at: Date,
): Promise<readonly IgnoredFields[]> {
  const { caller, owner, connector, objectName, given } = write;
  const { store, touch } = change;
  const { vendorName, others } = given;
  const ignored: IgnoredFields[] = [];
  for (const higher of ownersUpwards(owner).slice(1)) {
    const stored = await store.findTransformation(higher, connector.key, objectName);
    const changed = (others.get(higher.level) ?? []).filter((field) => !isStored(field, stored?.fields ?? []));
    if (changed.length === 0) continue;
    if (!caller.mayChange(higher.level)) {
      ignored.push({ level: higher.level, paths: changed.map(({ path }) => path) });
      continue;
    }
    await defineFields(change, { ...write, owner: higher }, changed);
    const { elementKey: _, changedAt: __, ...base } = stored ?? { objectName, vendorName, fields: [] };
    await store.putTransformation(higher, connector.key, { ...base, fields: joined(base.fields, changed) }, at);
    touch(higher);
  }
  if (write.skipsOwn !== true) await writeOwn(change, write, at);
  if (owner.level === 'organization') await writeForAccount(change, write, at);
  return ignored;
}

async function writeOwn(change: MappingChange, write: TransformationWrite, at: Date): Promise<void> {
  const { owner, connector, objectName, given } = write;
  const { vendorName, own, configuration, script } = given;
  await defineFields(change, write, own);
  const transformation: Transformation = {
    objectName,
    vendorName,
    fields: own,
    ...(configuration.length > 0 && { configuration }),
    ...(script !== undefined && { script }),
  };
  await change.store.putTransformation(owner, connector.key, transformation, at);
  change.touch(owner);
}

/**
 * Stores the fields that a request for the organization assigns to the level `account`: for the own account, in place of those that it has,
 * with the same script and configuration, because those of the lowest level hold.
 */
async function writeForAccount(change: MappingChange, write: TransformationWrite, at: Date): Promise<void> {
  const { caller, given } = write;
  const own = given.others.get('account') ?? [];
  if (own.length === 0) return;
  caller.assertMayChange('account');
  const inherits = given.configuration.some(({ type }) => type === 'inherit');
  const configuration = inherits ? given.configuration : [...given.configuration, { type: 'inherit' } as const];
  const below = { ...given, own, others: new Map(), configuration };
  await writeOwn(change, { ...write, owner: ownAccount(caller), given: below }, at);
}

/** A field that was read shows the type of the definition, which the stored one need not have. */
function isStored(field: TransformationField, stored: readonly TransformationField[]): boolean {
  return stored.some((known) => {
    const { type: _, ...given } = field;
    return isDeepStrictEqual(known, field) || isDeepStrictEqual(known, given);
  });
}

function joined(
  stored: readonly TransformationField[],
  changed: readonly TransformationField[],
): readonly TransformationField[] {
  return [...new Map([...stored, ...changed].map((field) => [field.path, field])).values()];
}

/** Types of mapped fields for those of provider fields. */
const TYPES: Readonly<Record<FieldType, MappedType>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  date: 'date',
  datetime: 'date',
  object: 'object',
  array: 'array',
};

/**
 * Adds fields to the definition of a level, as far as neither that level nor one above it has them.
 * @throws AppError NOT_FOUND where no level has a definition, REQUEST_INVALID
 */
async function defineFields(
  change: MappingChange,
  { owner, connector, objectName, given: { vendorName } }: TransformationWrite,
  fields: readonly TransformationField[],
): Promise<void> {
  const levels = await readUpwards(owner, (one) => change.store.findDefinition(one, objectName));
  if (levels.length === 0) throw unknownObject(objectName, owner);
  const merged = mergeDefinitions(levels);
  const known = new Set(merged.map(({ path }) => path));
  const added = fields
    .filter(({ path }) => !known.has(path))
    .map(({ path, type, vendorPath }) => ({ path, type: type ?? typeOf(connector, vendorName, vendorPath) }));
  const faults = createFaults('body');
  const segmentsByPath = new Map(
    fields.map(({ path }, index): [string, PointerSegments] => [path, ['fields', String(index)]]),
  );
  checkContainers([...merged, ...added], segmentsByPath, faults);
  faults.throwIfAny();
  if (added.length === 0) return;
  const own = levels.find(({ level }) => level === owner.level)?.value.fields ?? [];
  await putFields(change, { owner, objectName, fields: [...own, ...added], segments: ['body'] });
}

/** Returns the type for a new field of a definition: that of the provider's field, where it is known. */
function typeOf({ objects }: Connector, vendorName: string, vendorPath: string | undefined): MappedType {
  if (typeof objects === 'function' || vendorPath === undefined || !Object.hasOwn(objects, vendorName)) return 'string';
  const { fields } = objects[vendorName] ?? { fields: {} };
  const type = Object.hasOwn(fields, vendorPath) ? fields[vendorPath]?.type : undefined;
  return type === undefined ? 'string' : TYPES[type];
}

interface Removed {
  readonly owner: Owner;
  readonly propagate: boolean;
  readonly transformations: readonly StoredTransformation[];
}

async function removeTransformations(
  { store, touch }: MappingChange,
  { owner, propagate, transformations }: Removed,
): Promise<void> {
  const byElement = Map.groupBy(transformations, ({ elementKey }) => elementKey);
  for (const [elementKey, some] of byElement)
    await store.removeTransformations(
      owner,
      elementKey,
      some.map(({ objectName }) => objectName),
    );
  touch(owner);
  for (const { objectName, fields } of propagate ? transformations : []) {
    const definition = await store.findDefinition(owner, objectName);
    if (definition === undefined) continue;
    const mapped = new Set(fields.map(({ path }) => path));
    const needed = new Set(await store.listMappedPaths(owner, objectName));
    const left = definition.fields.filter(({ path }) => !mapped.has(path) || needed.has(path));
    const isUsed = (await store.listUses(owner, [objectName], 1)).length > 0;
    if (left.length === 0 && !isUsed) await store.removeDefinition(owner, objectName);
    else await store.putDefinition(owner, { objectName, fields: left });
  }
}

/** @throws AppError NOT_FOUND */
async function showTransformation(store: MappingStore, target: TransformationTarget): Promise<ShownTransformation> {
  const { owner, connector, objectName } = target;
  const levels = await readUpwards(owner, (one) => store.findTransformation(one, connector.key, objectName));
  const [own, ...above] = levels;
  if (own?.level !== owner.level) throw noTransformation(target);
  const definitions = await readUpwards(owner, (one) => store.findDefinition(one, objectName));
  return show(connector.key, [own, ...above], mergeDefinitions(definitions));
}

/** Returns the transformation of the target's level or, where it has none, of the next level above it. */
async function showLowest(store: MappingStore, target: TransformationTarget): Promise<ShownTransformation> {
  for (const owner of ownersUpwards(target.owner)) {
    const found = await store.findTransformation(owner, target.connector.key, target.objectName);
    if (found !== undefined) return showTransformation(store, { ...target, owner });
  }
  throw noTransformation(target);
}

/** @param lowestFirst the transformation to show, and those above it */
function show(
  elementKey: string,
  lowestFirst: readonly [OfLevel<StoredTransformation>, ...OfLevel<StoredTransformation>[]],
  definition: readonly DefinitionField[],
): ShownTransformation {
  const [{ level, value }] = lowestFirst;
  const { fields } = mergeTransformations(lowestFirst) ?? { fields: [] };
  const types = new Map(definition.map(({ path, type }) => [path, type]));
  const { objectName, vendorName, configuration = [], script, changedAt } = value;
  return {
    objectName,
    vendorName,
    level,
    elementKey,
    changedAt,
    fields: fields.map(({ path, type, ...rest }) => ({ path, type: type ?? types.get(path) ?? 'string', ...rest })),
    configuration,
    ...(script !== undefined && { script }),
  };
}

/** Returns what each level has of a name. */
function pick<One extends { readonly objectName: string }>(
  levels: readonly OfLevel<readonly One[]>[],
  name: string,
): readonly OfLevel<One>[] {
  return levels.flatMap(({ level, value }) => {
    const found = value.find(({ objectName }) => objectName === name);
    return found === undefined ? [] : [{ level, value: found }];
  });
}

function toAudit(stored: StoredTransformation | undefined): Readonly<Record<string, unknown>> {
  if (stored === undefined) return {};
  const { elementKey: element, vendorName, fields, configuration, script } = stored;
  return { element, vendorName, fields, configuration, script };
}

function alreadyThere({ owner, connector, objectName }: TransformationTarget): AppError {
  return new AppError(
    'CONFLICT',
    `The transformation '${cutText(objectName)}' for '${connector.key}' exists already at the level ${owner.level}. Use PUT to change it.`,
  );
}

function noTransformation({ owner, connector, objectName }: TransformationTarget): AppError {
  return missing(`transformation for '${connector.key}' at the level ${owner.level} named`, objectName);
}

function unknownObject(objectName: string, { level }: Owner): AppError {
  const where = level === 'organization' ? 'at the level organization' : `at the level ${level} or above it`;
  return new AppError(
    'NOT_FOUND',
    `There is no definition '${cutText(objectName)}' ${where}. Create the definition before its transformations.`,
  );
}
