import { ApiError, api, ask, askPage, askWithHeaders, type Schemas } from '../api.ts';
import type { Owner } from './levels.ts';
import type { Target } from './paths.ts';
import type { WrittenTransformation } from './transformation-form.ts';

export type CommonResource = Schemas['CommonResource'];
export type AssociatedField = Schemas['AssociatedField'];
type Definition = Schemas['Definition'];
type Transformation = Schemas['Transformation'];
type FieldBody = Schemas['DefinitionFieldBody'];

const MOST_LISTED = 1_000;

/** Returns the definitions of all levels that the user sees. @throws ApiError */
export async function listResources(signal: AbortSignal): Promise<readonly CommonResource[]> {
  const { rows } = await askPage<CommonResource>(
    api.GET('/common-resources', { signal, params: { query: { pageSize: MOST_LISTED } } }),
  );
  return rows;
}

/** Returns the elements that instances can be created for. @throws ApiError */
export async function listElements(signal: AbortSignal): Promise<readonly Schemas['Element'][]> {
  const { rows } = await askPage<Schemas['Element']>(
    api.GET('/elements', { signal, params: { query: { pageSize: MOST_LISTED } } }),
  );
  return rows;
}

/** A definition with the owners that have fields of it. */
export interface LoadedDefinition {
  readonly resource: CommonResource;
  /** The owners, highest level first. */
  readonly owners: readonly Owner[];
}

/** Loads the definition of a name with the fields of all levels. @throws ApiError */
export async function loadDefinition(name: string, signal: AbortSignal): Promise<LoadedDefinition> {
  const [resource, owners] = await Promise.all([
    ask(api.GET('/common-resources/{name}', { signal, params: { path: { name } } })),
    listOwners(name, signal),
  ]);
  return { resource, owners };
}

/** Returns the owner of a field. */
export function ownerOf({ associatedLevel, associatedId }: AssociatedField): Owner {
  return associatedLevel === 'instance'
    ? { level: associatedLevel, instanceId: associatedId }
    : { level: associatedLevel };
}

/** Returns the owners that have a definition of a name, the highest level first. @throws ApiError */
async function listOwners(name: string, signal: AbortSignal): Promise<readonly Owner[]> {
  const { rows } = await askPage<Schemas['VdrEntry']>(
    api.GET('/vdrs', {
      signal,
      params: { query: { pageSize: MOST_LISTED, where: `name = '${name.replaceAll("'", "''")}'` } },
    }),
  );
  return rows.flatMap(({ level, instanceId }): Owner[] => {
    if (level === 'organization' || level === 'account') return [{ level }];
    return level === 'instance' && instanceId !== undefined ? [{ level, instanceId }] : [];
  });
}

/** Returns undefined in place of the error for a missing resource. @throws ApiError for other errors */
async function orNothing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** The calls for the definition of one owner. */
interface DefinitionCalls {
  readonly get: () => Promise<Definition>;
  readonly create: (fields: FieldBody[]) => Promise<Definition>;
  readonly replace: (fields: FieldBody[]) => Promise<Definition>;
}

/** The calls on the definition of a name, for the level of its owner. */
export function definitionCalls(objectName: string, owner: Owner): DefinitionCalls {
  if (owner.level === 'instance') return callsOfInstance(objectName, owner.instanceId);
  return owner.level === 'organization' ? callsOfOrganization(objectName) : callsOfAccount(objectName);
}

function callsOfOrganization(objectName: string): DefinitionCalls {
  const path = '/organizations/objects/{objectName}/definitions';
  const params = { path: { objectName } };
  return {
    get: () => ask(api.GET(path, { params })),
    create: (fields) => ask(api.POST(path, { params, body: { fields } })),
    replace: (fields) => ask(api.PUT(path, { params, body: { fields } })),
  };
}

function callsOfAccount(objectName: string): DefinitionCalls {
  const path = '/accounts/objects/{objectName}/definitions';
  const params = { path: { objectName } };
  return {
    get: () => ask(api.GET(path, { params })),
    create: (fields) => ask(api.POST(path, { params, body: { fields } })),
    replace: (fields) => ask(api.PUT(path, { params, body: { fields } })),
  };
}

function callsOfInstance(objectName: string, id: number): DefinitionCalls {
  const path = '/instances/{id}/objects/{objectName}/definitions';
  const params = { path: { objectName, id } };
  return {
    get: () => ask(api.GET(path, { params })),
    create: (fields) => ask(api.POST(path, { params, body: { fields } })),
    replace: (fields) => ask(api.PUT(path, { params, body: { fields } })),
  };
}

/**
 * Changes the fields of one level. The function receives the stored fields, which are read immediately before.
 * @throws ApiError
 */
export async function changeFields(
  objectName: string,
  owner: Owner,
  change: (fields: readonly FieldBody[]) => readonly FieldBody[],
): Promise<void> {
  const calls = definitionCalls(objectName, owner);
  const stored = await orNothing(calls.get());
  const fields = [...change(stored?.fields ?? [])];
  await (stored === undefined ? calls.create(fields) : calls.replace(fields));
}

/** Returns the transformation of a level; undefined where there is none. @throws ApiError */
export async function findTransformation(
  objectName: string,
  target: Target,
  signal: AbortSignal,
): Promise<Transformation | undefined> {
  // Reads the list, because a missing transformation is no error there.
  const all = await listTransformations(target, signal);
  return Object.hasOwn(all, objectName) ? all[objectName] : undefined;
}

function listTransformations(target: Target, signal: AbortSignal): Promise<Schemas['TransformationMap']> {
  if (target.level === 'instance') {
    const params = { path: { id: target.instanceId } };
    return ask(api.GET('/instances/{id}/transformations', { signal, params }));
  }
  const params = { path: { keyOrId: target.elementKey } };
  return ask(
    target.level === 'organization'
      ? api.GET('/organizations/elements/{keyOrId}/transformations', { signal, params })
      : api.GET('/accounts/elements/{keyOrId}/transformations', { signal, params }),
  );
}

/**
 * Creates or replaces a transformation.
 * @returns the fields that were ignored, in the words of the service
 * @throws ApiError
 */
export async function saveTransformation(
  objectName: string,
  target: Target,
  body: WrittenTransformation['body'],
): Promise<string | undefined> {
  const owner =
    target.level === 'instance' ? { elementInstanceId: target.instanceId } : { elementKey: target.elementKey };
  const { headers } = await askWithHeaders(
    api.PUT('/transformations', { body: { ...body, objectName, level: target.level, ...owner } }),
  );
  return headers.get('Elements-Error') ?? undefined;
}

/** Deletes the transformation of a level. @throws ApiError */
export async function removeTransformation(objectName: string, target: Target): Promise<void> {
  if (target.level === 'instance') {
    const params = { path: { objectName, id: target.instanceId } };
    await ask(api.DELETE('/instances/{id}/transformations/{objectName}', { params }));
    return;
  }
  const params = { path: { objectName, keyOrId: target.elementKey } };
  await ask(
    target.level === 'organization'
      ? api.DELETE('/organizations/elements/{keyOrId}/transformations/{objectName}', { params })
      : api.DELETE('/accounts/elements/{keyOrId}/transformations/{objectName}', { params }),
  );
}
