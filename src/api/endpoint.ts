import document from '../../generated/openapi.json' with { type: 'json' };
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { type BodyLimits, LARGE, ORDINARY } from '../http/json-body.ts';
import type { HandlerResponse } from '../http/response.ts';
import { ACCESS, type Access } from './access.ts';
import type { ApiOperationId, FileOperationId, Handlers, StreamOperationId } from './operation.ts';
import { findValidation, type Scope, type Validate } from './validation.ts';

/** Everything that depends only on the operation of a request, computed once at the start. */
export interface Endpoint {
  readonly id: ApiOperationId;
  readonly access: Access;
  /** Whether every authenticated caller may use the operation in the account of the request. */
  readonly isForEverybody: boolean;
  /** Schema of the body; undefined for an operation without a body. */
  readonly body: TakenBody | undefined;
  readonly limits: BodyLimits;
  /** Whether the operation supports an `Idempotency-Key`. */
  readonly isRepeatable: boolean;
  /** Whether the operation must not run twice, or is recorded in the audit log. */
  readonly isNoted: boolean;
  /** Parts of a request with texts that PostgreSQL has to keep. */
  readonly stored: readonly ('query' | 'body')[];
  /** Whether responses are JSON whatever the `Accept` header says. If false, the handler checks the header. */
  readonly isJson: boolean;
  /** Whether responses may be compressed, because they contain no secrets. */
  readonly isPackable: boolean;
  readonly validate: Validate;
  /** Handles an `OperationRequest` of the operation, after the validator accepted it. */
  readonly handle: (request: unknown) => Promise<HandlerResponse> | HandlerResponse;
}

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
      const handle = handlers[id] as Endpoint['handle'];
      return [id, createEndpoint(id, handle, findValidation(id, validateResponses))];
    }),
  );
}

function createEndpoint(id: ApiOperationId, handle: Endpoint['handle'], validate: Validate): Endpoint {
  const { method, largeBody, scopes } = OPERATIONS[id];
  const access: Access = ACCESS[id];
  return {
    id,
    access,
    isForEverybody: access.privilege === undefined && access.account === undefined && access.user === undefined,
    body: takenBody(id),
    limits: largeBody ? LARGE : ORDINARY,
    isRepeatable: method === 'post',
    isNoted: method === 'post' || access.audit !== undefined,
    // Records belong to the provider, which may store any text. A text in the query of a GET is only searched for.
    stored: isOfRecords(scopes) ? [] : [...(method === 'get' ? [] : (['query'] as const)), ...bodyToStore(id)],
    isJson: !(id in FILE_OPERATIONS),
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
