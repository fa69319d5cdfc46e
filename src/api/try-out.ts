import type { Registry } from '../connector/registry.ts';
import { invalidRequest } from '../errors.ts';
import type { Instances } from '../instances/instances.ts';
import type { ConnectedInstance } from '../resources/call.ts';
import type { Resources } from '../resources/index.ts';
import type { Handlers, OperationBody } from './operation.ts';
import { mappingHeaders } from './records.ts';

export interface TryOutServices {
  readonly instances: Pick<Instances, 'get'>;
  readonly registry: Pick<Registry, 'getConnector'>;
  readonly resources: Pick<Resources, 'tryMapping'>;
}

export function createTryOutHandlers({ instances, registry, resources }: TryOutServices) {
  /**
   * Returns the instance to try a transformation with.
   * @throws AppError REQUEST_INVALID, NOT_FOUND
   */
  async function findTarget(
    accountId: number,
    { instanceId, elementId, elementKey }: OperationBody<'executeTransformation'>,
  ): Promise<ConnectedInstance> {
    const given = [instanceId, elementId, elementKey].filter((each) => each !== undefined);
    if (given.length !== 1) {
      throw invalidRequest([{ path: '/body', message: 'Send one of instanceId, elementId and elementKey.' }]);
    }
    if (instanceId !== undefined) return instances.get(accountId, instanceId);
    const connector = registry.getConnector(elementKey ?? String(elementId));
    if (typeof connector.objects !== 'function') return { ...NO_INSTANCE, accountId, connector };
    const message = `${connector.name} discovers the objects of each instance. Send the instanceId of one.`;
    throw invalidRequest([{ path: elementKey === undefined ? '/body/elementId' : '/body/elementKey', message }]);
  }

  return {
    executeTransformation: async ({ principal: { accountId }, path: { objectName }, body, signal }) => {
      const instance = await findTarget(accountId, body);
      const write = body.method === undefined ? undefined : body.method === 'POST' ? 'create' : 'update';
      const tried = await resources.tryMapping({ instance, objectName, signal }, body.payload, write);
      return { body: tried.record, headers: mappingHeaders(tried.faults) };
    },
  } satisfies Partial<Handlers>;
}

/** An element whose objects are known without an instance. Nothing is called for it. */
const NO_INSTANCE = { id: 0, settingsVersion: 0, config: {}, disabled: false, valid: true, refusedCalls: [] };
