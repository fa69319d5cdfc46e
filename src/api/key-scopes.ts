import type { Request } from 'express';
import { KEY_SCOPES } from '../../generated/key-scopes.ts';
import type { OperationId } from '../../generated/operations.ts';
import { type AccessKey, coversInstance, coversObject, type Selectable } from '../accounts/access-keys/scope.ts';
import { AppError, cutText } from '../errors.ts';

/** A scope that a request needs and a key may lack. No key has `platform`. */
type KeyScope =
  | (typeof KEY_SCOPES)[keyof typeof KEY_SCOPES][number]
  | 'instances'
  | 'elementKeys'
  | 'tags'
  | 'objects'
  | 'platform';

type KeyOperationId = keyof typeof KEY_SCOPES;

const NEEDED: Readonly<Record<string, readonly KeyScope[]>> = KEY_SCOPES;

/** Operations that reach all objects, so that a key for some of them cannot use them. */
const OVER_ALL_OBJECTS: ReadonlySet<OperationId> = new Set<KeyOperationId>(['listThisInstanceEvents']);

/** Path parameters that name an object, and the members of a body that do. */
const OBJECT_PARAMETERS = ['objectName', 'childObjectName'] as const;
/** The object behind operations without such a parameter. */
const OBJECT_OF: Readonly<Partial<Record<OperationId, string>>> = { search: 'search', searchHub: 'search' };

/** Headers by which some providers take another method than that of the request. */
const METHOD_HEADERS = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const;

/** Whether any key can use the operation. */
export function isForKeys(id: OperationId): boolean {
  return Object.hasOwn(NEEDED, id);
}

/**
 * Asserts that a key may use an operation, by its path, before the body is read.
 * @throws AppError FORBIDDEN that names the missing scope
 */
export function assertKeyMay(key: AccessKey, id: OperationId, params: Readonly<Record<string, string>> = {}): void {
  const needed = Object.hasOwn(NEEDED, id) ? NEEDED[id] : undefined;
  if (needed === undefined) throw lackingScope('platform');
  for (const scope of needed) if (!hasScope(key, scope)) throw lackingScope(scope);
  if (key.objects === undefined) return;
  if (OVER_ALL_OBJECTS.has(id) || needed.includes('bulk') || needed.includes('passthrough'))
    throw lackingScope('objects', 'This operation reaches every object');
  const names = [OBJECT_OF[id], ...OBJECT_PARAMETERS.map((name) => params[name])];
  for (const name of names) if (name !== undefined) assertKeyReaches(key, name);
}

/** @throws AppError FORBIDDEN for a request that a provider may take for one that changes something */
export function assertKeyMayPass(key: AccessKey, id: OperationId, { headers }: Pick<Request, 'headers'>): void {
  assertKeyMay(key, id);
  const changes = METHOD_HEADERS.find((name) => headers[name] !== undefined);
  if (changes === undefined || key.access === 'write') return;
  throw lackingScope('write', `The header ${changes} can change the method`);
}

/**
 * Asserts that a body names no object that the key does not reach.
 * @throws AppError FORBIDDEN
 */
export function assertKeyReachesBody(key: AccessKey, id: OperationId, body: unknown): void {
  if (key.objects === undefined || id !== 'explainQuery' || typeof body !== 'object' || body === null) return;
  const name: unknown = Object.hasOwn(body, 'objectName') ? Reflect.get(body, 'objectName') : undefined;
  if (typeof name === 'string') assertKeyReaches(key, name);
}

/**
 * Asserts that a key reaches an instance.
 * @throws AppError FORBIDDEN that names the limit
 */
export function assertKeyCovers(key: AccessKey, instance: Selectable): void {
  if (coversInstance(key, instance)) return;
  const limit = (['instances', 'elementKeys', 'tags'] as const).find(
    (name) => !coversInstance({ [name]: key[name] }, instance),
  );
  throw lackingScope(limit ?? 'instances', `Instance ${instance.id} is out of reach of the key`);
}

/** Returns the error for an instance that a key does not reach, whether it exists or not. */
export function outOfReach(id: number): AppError {
  return lackingScope('instances', `Instance ${id} is out of reach of the key, or was deleted`);
}

/** Returns the error of a request to the platform that is no operation of the spec. */
export function lackingPlatform(): AppError {
  return lackingScope('platform');
}

/** Returns the error of a request for another account than that of the key. */
export function otherAccount(): AppError {
  return lackingScope('platform', 'A key works in its own account only');
}

function hasScope({ access, allow }: AccessKey, scope: KeyScope): boolean {
  if (scope === 'read') return true;
  return scope === 'write' ? access === 'write' : allow.some((each) => each === scope);
}

function assertKeyReaches(key: AccessKey, name: string): void {
  if (coversObject(key, name)) return;
  throw lackingScope('objects', `The key does not reach the object '${cutText(name)}'`);
}

const ADVICE = 'Use a key that has it, or User and Organization secrets.';

function lackingScope(scope: KeyScope, reason?: string): AppError {
  const needs =
    scope === 'platform'
      ? 'This needs the scope platform, which no access key has. Use User and Organization secrets.'
      : `This needs the scope ${scope}, which the access key lacks. ${ADVICE}`;
  const message = reason === undefined ? needs : `${reason}. ${needs}`;
  return new AppError('FORBIDDEN', message, { details: [{ path: '/headers/authorization', message: needs }] });
}
