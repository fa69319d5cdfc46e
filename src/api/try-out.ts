import { AppError, invalidRequest, isAppError } from '../errors.ts';
import type { ConnectedInstance } from '../resources/call.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationBody } from './operation.ts';
import { mappingHeaders } from './records.ts';

export function createTryOutHandlers({ instances, registry, resources }: ApiServices) {
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
      const write = body.method && WRITES[body.method];
      const target = { instance, objectName, signal };
      const tried = await inPayload(resources.tryMapping(target, body.payload, write));
      return { body: tried.record, headers: mappingHeaders(tried.faults) };
    },
  } satisfies Partial<Handlers>;
}

/** Lets the error of the write name the parts of this request: its body is the payload here, and its method is a member. */
async function inPayload<Result>(trying: Promise<Result>): Promise<Result> {
  try {
    return await trying;
  } catch (error) {
    if (isAppError(error, 'OPERATION_UNSUPPORTED') || isAppError(error, 'UNSUPPORTED_MEDIA_TYPE'))
      throw invalidRequest([{ path: '/body/method', message: error.message }]);
    if (!isAppError(error, 'REQUEST_INVALID') || error.details === undefined) throw error;
    const details = error.details.map((detail) => ({
      ...detail,
      ...(detail.path !== undefined && { path: detail.path.replace(/^\/body(?=\/|$)/, '/body/payload') }),
    }));
    throw new AppError('REQUEST_INVALID', error.message, { details, cause: error });
  }
}

const WRITES = { POST: 'create', PUT: 'replace', PATCH: 'update' } as const;

/** An element whose objects are known without an instance. Nothing is called for it. */
const NO_INSTANCE = { id: 0, settingsVersion: 0, config: {}, disabled: false, valid: true, refusedCalls: [] };
