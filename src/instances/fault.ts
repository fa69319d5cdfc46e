import type { Connector } from '../connector/contract.ts';
import { AppError } from '../errors.ts';
import type { Instance, InstanceFault } from './instance.ts';

/**
 * Settings and credentials are not those that were stored together, or the key of the credentials is missing. Settings say
 * where credentials are sent, so none of them is used: the whole configuration puts it right.
 */
export function unreadableSecrets(id: number): InstanceFault {
  const message = `The stored settings and credentials of instance ${id} cannot be used: they cannot be read, or were changed outside of the service. PATCH /instances/${id} with the whole configuration puts it right.`;
  return { kind: 'secrets', code: 'INSTANCE_CREDENTIALS_FAILED', message };
}

/** There is no connector of this key any more. */
export function missingElement(id: number, elementKey: string): InstanceFault {
  const message = `The element '${elementKey}' of instance ${id} is no longer offered by this service.`;
  return { kind: 'element', code: 'NOT_FOUND', message };
}

/** @throws AppError that says why the instance cannot be used */
export function assertUsable<Owner extends Pick<Instance, 'fault'>>(instance: Owner): Owner {
  const { fault } = instance;
  if (fault === undefined) return instance;
  throw new AppError(fault.code, fault.message);
}

/** In place of a connector that is gone. Nothing calls it: its instances have a fault. */
export function placeholderOf(elementKey: string): Connector {
  return {
    key: elementKey,
    id: 0,
    name: elementKey,
    description: 'No longer offered.',
    hub: 'general',
    auth: { type: 'none' },
    configuration: [],
    baseUrl: () => '',
    hosts: [],
    objects: {},
    probe: {},
  };
}
