import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { LARGE, ORDINARY } from '../http/json-body.ts';
import type { HandlerResponse } from '../http/response.ts';
import { ACCESS, type Access } from './access.ts';
import type { ApiOperationId, FileOperationId, Handlers, StreamOperationId } from './operation.ts';
import { findValidation, type Scope, type Validate } from './validation.ts';

export type Endpoint = ReturnType<typeof createEndpoint>;

/** Handles an `OperationRequest` of the operation, after the validator accepted it. */
type Handle = (request: unknown) => Promise<HandlerResponse> | HandlerResponse;

export interface TakenBody {
  readonly form: 'none' | 'also' | 'only';
  readonly isRequired: boolean;
}

/** Operations with files, which respond with the media type that the caller prefers. */
const FILE_OPERATIONS: Readonly<Record<FileOperationId | StreamOperationId, true>> = {
  getRecord: true,
  getHubRecord: true,
  getBulkFile: true,
  getHubBulkFile: true,
  listBulkErrors: true,
  listHubBulkErrors: true,
};

/** Tags of operations whose responses are descriptions and records: no secret of this service is in them. */
const OPEN_TAGS: ReadonlySet<string> = new Set(['bulk', 'objects', 'query', 'records']);
const OPEN_OPERATIONS: ReadonlySet<string> = new Set<OperationId>([
  'listElements',
  'getElement',
  'listDeliveries',
  'getDelivery',
  'listNotifications',
]);

/** Returns whether responses of an operation may be compressed (see `encodingOf`). */
export function isPackable(id: OperationId): boolean {
  return OPEN_OPERATIONS.has(id) || OPEN_TAGS.has(OPERATIONS[id].tag);
}

/**
 * Operations whose bodies may contain any text: an explained query is not stored, and an event is stored as JSON, which escapes the text.
 */
const ANY_TEXT: ReadonlySet<OperationId> = new Set(['explainQuery', 'sendTestEvent']);

export const FORM_TYPE = 'multipart/form-data';

export function createEndpoints(handlers: Handlers, validateResponses: boolean): ReadonlyMap<OperationId, Endpoint> {
  const ids = Object.keys(handlers) as ApiOperationId[];
  return new Map(
    ids.map((id) => {
      // The table's type ties each handler to its operation; from here on any of them is called.
      const handle = handlers[id] as Handle;
      return [id, createEndpoint(id, handle, findValidation(id, validateResponses))];
    }),
  );
}

/** Returns everything that depends only on the operation of a request, computed once at the start. */
function createEndpoint(id: ApiOperationId, handle: Handle, validate: Validate) {
  const { method, largeBody, scopes } = OPERATIONS[id];
  const access: Access = ACCESS[id];
  return {
    id,
    access,
    /** Whether every authenticated caller may use the operation in the account of the request. */
    isForEverybody: access.privilege === undefined && access.account === undefined && access.user === undefined,
    /** Schema of the body; undefined for an operation without a body. */
    body: takenBody(id),
    limits: largeBody ? LARGE : ORDINARY,
    /** Whether the operation supports an `Idempotency-Key`. */
    isRepeatable: method === 'post',
    /** Whether the operation must not run twice, or is recorded in the audit log. */
    isNoted: method === 'post' || access.audit !== undefined,
    /**
     * Parts of a request with texts that PostgreSQL has to keep. Records belong to the provider, which may store any text. A text in the query
     * of a GET is only searched for.
     */
    stored: isOfRecords(scopes) ? [] : [...(method === 'get' ? [] : (['query'] as const)), ...bodyToStore(id)],
    /** Whether responses are JSON whatever the `Accept` header says. If false, the handler checks the header. */
    isJson: !(id in FILE_OPERATIONS),
    /** Whether responses may be compressed, because they contain no secrets. */
    isPackable: isPackable(id),
    validate,
    handle,
  };
}

function isOfRecords(scopes: readonly Scope[]): boolean {
  return scopes.includes('record');
}

function bodyToStore(id: ApiOperationId): readonly 'body'[] {
  return ANY_TEXT.has(id) ? [] : ['body'];
}

function takenBody(id: OperationId): TakenBody | undefined {
  const { path, method } = OPERATIONS[id];
  const item: Readonly<Record<string, unknown>> = document.paths[path];
  const { requestBody } = Object(item[method]);
  if (requestBody === undefined) return undefined;
  const { content, required = false } = requestBody;
  const types = Object.keys(content);
  if (!types.includes(FORM_TYPE)) return { form: 'none', isRequired: required };
  return { form: types.length === 1 ? 'only' : 'also', isRequired: required };
}
