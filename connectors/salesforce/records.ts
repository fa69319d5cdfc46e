import {
  type ConnectorContext,
  type CreateInput,
  type ObjectSpec,
  type ProviderRequest,
  path,
  type UpdateInput,
} from '#connector';
import { findText, getObject } from './answer.ts';

/** What Salesforce lets anybody do with the records of an object; what this user may do shows when it is done. */
export interface Permissions {
  readonly retrieveable: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly deletable: boolean;
}

type RecordOperations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'>;

/**
 * One record at a time, by its id. What is written is read back: Salesforce answers an id or nothing.
 * Source: REST API Developer Guide, "sObject Rows".
 */
export function recordOperations(objectName: string, may: Permissions): RecordOperations {
  return {
    ...(may.retrieveable && {
      get: { request: ({ id }) => requestRecord(objectName, id), read: ({ body }) => getObject(body, 'a record') },
    }),
    ...(may.createable && { create: { run: (context, input) => createRecord(context, objectName, input) } }),
    ...(may.updateable && { update: { run: (context, input) => updateRecord(context, objectName, input) } }),
    ...(may.deletable && {
      remove: {
        request: ({ id }) => ({ method: 'DELETE', path: path`/sobjects/${objectName}/${id}` }),
        read: () => undefined,
      },
    }),
  } satisfies RecordOperations;
}

/** With all its fields: naming the wanted ones could make the URL too long. */
function requestRecord(objectName: string, id: string): ProviderRequest {
  return { path: path`/sobjects/${objectName}/${id}` };
}

async function createRecord({ send }: ConnectorContext, objectName: string, { values }: CreateInput): Promise<unknown> {
  const created = await send({ method: 'POST', path: path`/sobjects/${objectName}`, json: values });
  const id = findText(getObject(created.body, 'the id of the new record').id);
  if (id === undefined) throw new Error('Salesforce answered without the id of the new record.');
  return (await send(requestRecord(objectName, id))).body;
}

async function updateRecord(
  { send }: ConnectorContext,
  objectName: string,
  { id, values }: UpdateInput,
): Promise<unknown> {
  await send({ method: 'PATCH', path: path`/sobjects/${objectName}/${id}`, json: values });
  return (await send(requestRecord(objectName, id))).body;
}
