import type { Request, RequestHandler, Response } from 'express';
import { middleware as createMiddlewares } from 'express-openapi-validator';
import type { OpenAPIV3 } from 'express-openapi-validator/dist/framework/types.js';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { OperationId } from '../../generated/operations.ts';
import { AppError, pointer } from '../errors.ts';
import { type Scope, scopedDocument } from './scoped-document.ts';

type Params = Readonly<Record<string, string>>;

/** What the validator knows of the operation that a request is for. */
interface Metadata {
  readonly pathParams: Readonly<Record<string, unknown>>;
  readonly schema: { readonly operationId?: string; readonly parameters?: readonly { readonly $ref?: string }[] };
}

export interface ValidatedRequest extends Request {
  openapi?: Metadata;
}

/** Checks and converts a request for an operation. @throws what the problem handler makes a REQUEST_INVALID of */
export type Validate = (request: ValidatedRequest, response: Response, params: Params) => Promise<void>;

export interface ValidationOptions {
  /** Checks every answer against the spec; one that does not fit becomes an INTERNAL error. */
  readonly validateResponses: boolean;
}

/** Of the validator's steps those that depend on the request; the others find the operation, over and over by compiling the paths of the document. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['requestMiddleware', 'responseMiddleware']);

/** The operations of a scope as the spec has them. The validator is one for all of them: it keeps the schemas that it compiled. */
export function createValidation(
  scope: Scope,
  { validateResponses }: ValidationOptions,
): (id: OperationId) => Validate {
  const steps: readonly RequestHandler[] = createMiddlewares({
    // Checked by the validator's own meta-schema in test/spec; TypeScript widens what it imports from JSON.
    apiSpec: scopedDocument(document, scope) as unknown as OpenAPIV3.DocumentV3,
    validateRequests: { allowUnknownQueryParameters: false, allErrors: true },
    validateResponses,
    validateSecurity: false,
    validateApiSpec: false,
    fileUploader: false,
  }).flat();
  const repeated = steps.filter(({ name }) => OF_THE_REQUEST.has(name));
  if (repeated.length !== (validateResponses ? 2 : 1))
    throw new Error('The validator has not the steps that are looked for');

  return (id) => {
    let metadata: Metadata | undefined;
    return async (request, response, params) => {
      if (metadata !== undefined) request.openapi = { ...metadata, pathParams: { ...params } };
      for (const step of metadata === undefined ? steps : repeated) await take(step, request, response);
      metadata ??= metadataOf(request, id);
      assertDigits(request, params);
    };
  };
}

function take(step: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void step(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
}

function metadataOf({ openapi }: ValidatedRequest, id: OperationId): Metadata {
  if (openapi?.schema.operationId !== id)
    throw new Error(`The validator took ${id} for ${openapi?.schema.operationId}`);
  return openapi;
}

/** @throws AppError REQUEST_INVALID for a number in another spelling than its digits: to the validator `0x1`, `1e0` and `+1` are 1 */
function assertDigits({ openapi }: ValidatedRequest, params: Params): void {
  for (const [name, value] of Object.entries(openapi?.pathParams ?? {})) {
    if (typeof value !== 'number' || params[name] === String(value)) continue;
    const message = 'must be integer';
    const details = [{ path: pointer('path', name), message }];
    throw new AppError('REQUEST_INVALID', `path.${name} ${message}.`, { details });
  }
}
