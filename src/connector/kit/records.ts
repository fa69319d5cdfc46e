import { isAppError } from '../../errors.ts';
import type {
  Config,
  ConnectorContext,
  ObjectSpec,
  Operation,
  ProviderRequest,
  ProviderResponse,
  UpdateInput,
} from '../contract.ts';
import { unusable } from '../define.ts';
import { json } from './json.ts';
import { nativesOf } from './list.ts';

type Values = UpdateInput['values'];

/**
 * A description of a provider's requests for single records. The kit reads a record back where the response to a write does not hold it; after a
 * creation it uses the `id` of the response.
 */
export interface RecordsOptions {
  /** Returns the request of one record. `natives` are the native names of the wanted fields. */
  readonly get: (id: string, natives: readonly string[], config: Config) => ProviderRequest;
  /** Returns the record in a response. Default: the body, which must be a JSON object. */
  readonly record?: (response: ProviderResponse) => unknown;
  /** The request that creates a record. */
  readonly create?: {
    readonly request: (values: Values, config: Config) => ProviderRequest;
    /**
     * Returns the id of the new record. Leave it out where the response holds the record.
     * @throws Error when there is no id, see `json.key`
     */
    readonly id?: (response: ProviderResponse) => string;
  };
  /** The request that changes the given fields of a record. */
  readonly update?: Change;
  /** The request that replaces a whole record. */
  readonly replace?: Change;
  /** Returns the request that removes a record. */
  readonly remove?: (id: string, config: Config) => ProviderRequest;
}

type ChangeRequest = (id: string, values: Values, config: Config) => ProviderRequest;

/** The request of a change. With `record`, the response holds the changed record; without it, the kit reads the record back. */
export type Change = ChangeRequest | { readonly request: ChangeRequest; readonly record: Read };

type RecordOperations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'replace' | 'remove'>;

/** Returns the operations on one record, to be spread into an object. */
export function records({ get, record = readBody, create, update, replace, remove }: RecordsOptions) {
  const readBack: ReadBack = async ({ send, config }, id, fields) =>
    record(await send(get(id, nativesOf({ fields }), config)));
  return {
    get: {
      request: ({ id, fields }, config) => get(id, nativesOf({ fields }), config),
      read: record,
    },
    ...(create !== undefined && { create: createWith(create, record, readBack) }),
    ...(update !== undefined && { update: changeWith(update, readBack) }),
    ...(replace !== undefined && { replace: changeWith(replace, readBack) }),
    ...(remove !== undefined && {
      remove: { request: ({ id }, config) => remove(id, config), read: () => undefined },
    }),
  } satisfies RecordOperations;
}

function readBody({ body }: ProviderResponse): unknown {
  return json.object(body, 'a record');
}

type ReadBack = (context: ConnectorContext, id: string, fields: UpdateInput['fields']) => Promise<unknown>;
type Read = (response: ProviderResponse) => unknown;

function createWith(
  { request, id: idOf }: NonNullable<RecordsOptions['create']>,
  read: Read,
  readBack: ReadBack,
): NonNullable<RecordOperations['create']> {
  if (idOf === undefined) return { request: ({ values }, config) => request(values, config), read };
  return {
    run: async (context, { values, fields }) => {
      const id = idOf(await context.send(request(values, context.config)));
      try {
        return await readBack(context, id, fields);
      } catch (error) {
        context.signal.throwIfAborted();
        throw createdUnread(id, error);
      }
    },
  };
}

/** The message must not read as if nothing had been created. */
function createdUnread(id: string, cause: unknown): Error {
  const reason = isAppError(cause) ? ` ${cause.message}` : '';
  return unusable(
    `The record was created with the id '${id}'. Do not create it again. Only reading it back failed.${reason}`,
    cause,
  );
}

function changeWith(change: Change, readBack: ReadBack): Operation<UpdateInput, unknown> {
  if (typeof change === 'object') {
    return { request: ({ id, values }, config) => change.request(id, values, config), read: change.record };
  }
  return {
    run: async (context, { id, values, fields }) => {
      await context.send(change(id, values, context.config));
      return readBack(context, id, fields);
    },
  };
}
