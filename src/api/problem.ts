import type { Request, RequestHandler, Response } from 'express';
import { withCallSecrets } from '../activity/entry.ts';
import { DatabaseUnavailableError, isOutOfTime } from '../db/unavailable.ts';
import {
  AppError,
  cutText,
  type ErrorCode,
  isAppError,
  listFaults,
  OF_PROVIDER,
  reasonOf,
  redactAppError,
} from '../errors.ts';
import type { Problem } from '../http/client-error.ts';
import { isHangUp } from '../http/connection.ts';
import type { RedactCall } from '../http/request-log.ts';
import { setBudget } from '../http/response.ts';
import type { Logger } from '../log.ts';
import type { Redactor } from '../redaction.ts';
import { onlyJson } from '../shared-errors.ts';
import { readFault, sentence } from './validation-faults.ts';

/** About the time of a restart of PostgreSQL, or of a fail-over. */
const DATABASE_RETRY_SECONDS = 5;

/** Creates the handler that converts errors to responses. There is no other. */
export function createProblemHandler(log: Logger, redactCall: RedactCall) {
  return (thrown: unknown, request: Request, response: Response): void => {
    if (isHangUp(thrown) && response.destroyed) return;
    const redactor = redactCall(request, response);
    const error = toAppError(thrown, request, redactor.redact);
    const { locals } = response;
    locals.errorCode = error.code;
    if (isAppError(error, ...OF_PROVIDER)) locals.errorReason = reasonOf(error);
    if (error.code === 'INTERNAL' || thrown instanceof DatabaseUnavailableError || isOutOfTime(thrown))
      log.error({ redactor, err: thrown, requestId: locals.requestId, path: request.path }, 'request failed');
    if (error.code === 'PROVIDER_PROTOCOL') {
      const { requestId, errorReason: reason, trace } = locals;
      const secrets = withCallSecrets({ redactor, trace });
      log.warn(
        { redactor: secrets, err: thrown, reason, requestId, path: request.path },
        'could not read a response of a provider',
      );
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    setHeaders(response, error);
    const text = JSON.stringify(toProblem(redactAppError(error, redactor), locals.requestId));
    // Said here for the responses to HEAD, where Node sees no body to count.
    response
      .status(error.status)
      .type('application/json')
      .set('Content-Length', String(Buffer.byteLength(text)));
    response.end(text);
  };
}

function toProblem({ code, message, details = [], providerMessage }: AppError, requestId: string): Problem {
  return {
    requestId,
    code,
    message:
      code === 'INTERNAL'
        ? 'Something went wrong in the service. Send the request id to its operator, who finds the error in the log.'
        : message,
    ...(details.length > 0 && { details }),
    ...(providerMessage !== undefined && { providerMessage }),
  };
}

function setHeaders(response: Response, error: AppError): void {
  if (error.code === 'UNAUTHENTICATED' && !response.hasHeader('WWW-Authenticate'))
    response.set('WWW-Authenticate', 'User realm="causeway"');
  if (error.budget !== undefined) setBudget(response, error.budget);
  if (error.allow !== undefined) response.set('Allow', withHead(error.allow).join(', '));
  if (error.byteCount !== undefined) response.set('Content-Range', `bytes */${error.byteCount}`);
  if (error.retryAfterSeconds !== undefined) response.set('Retry-After', String(Math.ceil(error.retryAfterSeconds)));
}

/** A resource that supports GET also supports HEAD. */
function withHead(methods: readonly string[]): readonly string[] {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])))];
}

function toAppError(thrown: unknown, request: Request, redact: Redactor['redact']): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof DatabaseUnavailableError)
    return overloaded('The service cannot reach its database at the moment. Try again later.', thrown);
  if (isOutOfTime(thrown))
    return overloaded('The database of the service did not respond in time. Try again later.', thrown);
  const fault = readFault(thrown, request, redact);
  const code = fault.status === undefined ? undefined : CODE_OF_STATUS[fault.status];
  switch (code) {
    case undefined:
      return new AppError('INTERNAL', 'Unexpected error', { cause: thrown });
    case 'NOT_FOUND':
      return nothingThere(request);
    case 'UNSUPPORTED_MEDIA_TYPE':
      return onlyJson();
    default:
      return new AppError(code, sentence(fault), { details: listFaults(fault.faults), cause: thrown });
  }
}

function overloaded(message: string, cause: unknown): AppError {
  return new AppError('OVERLOADED', message, { retryAfterSeconds: DATABASE_RETRY_SECONDS, cause });
}

export function wrongMethod({ method, baseUrl, path }: Request, allow: readonly string[]): AppError {
  const message = `There is no ${method} ${cutText(baseUrl + path)}. The path accepts ${allow.join(', ')}.`;
  return new AppError('OPERATION_UNSUPPORTED', message, { allow });
}

/** The error codes for statuses of the validator and of Express. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'REQUEST_INVALID',
  404: 'NOT_FOUND',
  406: 'NOT_ACCEPTABLE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** Rejects methods other than GET on files and on pages without an operation, in place of Express's own response. */
export const refuseOtherMethods: RequestHandler = (request) => {
  throw wrongMethod(request, ['GET']);
};

/** Rejects a request to an unknown path. @throws AppError NOT_FOUND */
export function notFound(request: Request): never {
  throw nothingThere(request);
}

function nothingThere({ method, baseUrl, path }: Request): AppError {
  return new AppError('NOT_FOUND', `There is no ${method} ${cutText(baseUrl + path)}.`);
}
