import type { ObjectSpec, OperationName } from '../connector/index.ts';
import { AppError, cutText, suggestName } from '../errors.ts';
import type { ConnectedInstance } from './ports.ts';

interface Addressee {
  readonly instance: ConnectedInstance;
  readonly objectName: string;
}

const METHODS = {
  list: 'GET',
  get: 'GET',
  create: 'POST',
  update: 'PATCH',
  replace: 'PUT',
  remove: 'DELETE',
} as const satisfies Record<OperationName, string>;

/** @throws AppError OPERATION_UNSUPPORTED that lists what the object supports */
export function requireOperation<Name extends OperationName>(
  { instance, objectName }: Addressee,
  object: ObjectSpec,
  name: Name,
): NonNullable<ObjectSpec[Name]> {
  const operation = object[name];
  if (operation !== undefined) return operation;
  const onCollection = name === 'list' || name === 'create';
  const names: readonly OperationName[] = onCollection ? ['list', 'create'] : ['get', 'update', 'replace', 'remove'];
  const allow = names.filter((other) => object[other] !== undefined).map((other) => METHODS[other]);
  const path = onCollection ? `/${objectName}` : `/${objectName}/{objectId}`;
  const supported = allow.length === 0 ? 'nothing' : allow.join(', ');
  const message = `${instance.connector.name} cannot ${METHODS[name]} ${path}; it supports ${supported} there.`;
  throw new AppError('OPERATION_UNSUPPORTED', message, { allow });
}

/** @throws AppError NOT_FOUND that lists the children there are */
export function getChild({ objectName }: Addressee, object: ObjectSpec, name: string): ObjectSpec {
  const children = object.children ?? {};
  const child = Object.hasOwn(children, name) ? children[name] : undefined;
  if (child !== undefined) return child;
  const names = Object.keys(children);
  const known = names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`;
  const hint = suggestName(name, names);
  throw new AppError('NOT_FOUND', `'${objectName}' has no child object '${cutText(name)}'.${hint} ${known}`);
}
