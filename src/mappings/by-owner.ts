import { cutText, invalidRequest, pointer } from '../errors.ts';
import type { MappingCaller, MappingChange } from './changes.ts';
import { MOST_FIELDS, readDefinition } from './check-definition.ts';
import { type IgnoredFields, putFields } from './definitions.ts';
import { isObject } from './faults.ts';
import { type DefinitionField, LEVELS, type Level } from './model.ts';
import type { Owner } from './owner.ts';
import type { VisibleDefinition, VisibleTo } from './store.ts';

/** Finds an instance of the caller. @throws AppError NOT_FOUND */
export type GetInstance = (id: number) => Promise<unknown>;

/** Replaces the fields of every owner that fields name. Fields of levels that the caller may not change are left out. */
export async function putByOwner(
  change: MappingChange,
  caller: MappingCaller,
  objectName: string,
  parts: ReadonlyMap<Owner, readonly DefinitionField[]>,
): Promise<readonly IgnoredFields[]> {
  const ignored: IgnoredFields[] = [];
  // Lower levels are checked against what is new above them.
  const highestFirst = [...parts].toSorted(([one], [other]) => LEVELS.indexOf(other.level) - LEVELS.indexOf(one.level));
  for (const [owner, fields] of highestFirst) {
    if (!caller.mayChange(owner.level)) {
      const stored = (await change.store.findDefinition(owner, objectName))?.fields ?? [];
      const known = new Set(stored.map((field) => JSON.stringify([field.path, field.type])));
      const paths = fields.filter(({ path, type }) => !known.has(JSON.stringify([path, type]))).map(({ path }) => path);
      if (paths.length > 0) ignored.push({ level: owner.level, paths });
    } else await putFields(change, { owner, objectName, fields, segments: ['body'] });
  }
  return ignored;
}

interface FieldsOf {
  readonly objectName: string;
  readonly fields: unknown;
  /** The level of fields that name none. */
  readonly level: 'organization' | 'account';
  readonly segments?: readonly string[];
}

/** Groups fields by their owners. @throws AppError REQUEST_INVALID; NOT_FOUND for an instance */
export async function readByOwner(
  caller: MappingCaller,
  { objectName, fields, level, segments = ['body'] }: FieldsOf,
  getInstance: GetInstance,
): Promise<ReadonlyMap<Owner, readonly DefinitionField[]>> {
  const withLevel = withLevels(fields, level);
  const list: readonly unknown[] = Array.isArray(withLevel) ? withLevel : [];
  if (list.length === 0 || list.length > MOST_FIELDS)
    readDefinition({ fields: withLevel }, { objectName, level, segments });
  // Fields of several instances may have the same path, so they are checked for each owner.
  const groups = Map.groupBy([...list.keys()], (index) => ownerNameOf(list[index]));
  const parts = new Map<Owner, readonly DefinitionField[]>();
  for (const [key, indexes] of groups) {
    const owner = await ownerOfFields(caller, key, getInstance);
    const group = indexes.map((index) => list[index]);
    const { own } = readDefinition({ fields: group }, { objectName, level: owner.level, segments, indexes });
    parts.set(owner, own);
  }
  if (parts.size === 0) parts.set(ownerOf(caller, { level, instanceId: null }), []);
  return parts;
}

function ownerNameOf(field: unknown): string {
  const { associatedLevel, associatedId } = isObject(field) ? field : {};
  return associatedLevel === 'instance' ? `instance ${String(associatedId)}` : String(associatedLevel);
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

/** Sets the level of fields that name none. */
export function withLevels(fields: unknown, level: Level): unknown {
  if (!Array.isArray(fields)) return fields;
  return fields.map((field: unknown) => {
    if (!isObject(field)) return field;
    return { ...field, associatedLevel: field.associatedLevel ?? field.level ?? level };
  });
}

/** Returns the owner of a definition that an account sees. */
export function ownerOf(
  { organizationId, accountId }: VisibleTo,
  { level, instanceId }: Pick<VisibleDefinition, 'level' | 'instanceId'>,
): Owner {
  if (level === 'organization') return { level, organizationId };
  if (level === 'account' || instanceId === null) return { level: 'account', organizationId, accountId };
  return { level, organizationId, accountId, instanceId };
}

/** Returns the default level: the highest one that the caller may change. */
export function defaultLevel({ mayChange }: Pick<MappingCaller, 'mayChange'>): 'organization' | 'account' {
  return mayChange('organization') ? 'organization' : 'account';
}
