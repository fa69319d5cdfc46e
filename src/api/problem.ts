import type { ErrorRequestHandler, Request, Response } from 'express';
import { AppError, type ErrorCode, type ErrorDetail } from '../errors.ts';
import type { Logger, Redactor } from '../log.ts';

/** The body of every error (decisions D4). */
export interface Problem {
  readonly requestId: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly providerMessage?: string;
}

export interface ProblemPorts {
  readonly log: Logger;
  readonly redactor: Redactor;
}

/** The only place where an error becomes a response. */
export function createProblemHandler({ log, redactor }: ProblemPorts): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = toAppError(thrown);
    if (error.code === 'INTERNAL')
      log.error({ err: thrown, requestId: response.locals.requestId, path: request.path }, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    setHeaders(response, error);
    response.status(error.status).type('application/json');
    response.end(redactor.redact(JSON.stringify(toProblem(error, response.locals.requestId))));
  };
}

function toProblem(error: AppError, requestId: string): Problem {
  const { code, details, providerMessage } = error;
  const message =
    code === 'INTERNAL' ? 'Something went wrong here. The request id finds it in the log.' : error.message;
  return {
    requestId,
    code,
    message,
    ...(details !== undefined && details.length > 0 && { details }),
    ...(providerMessage !== undefined && { providerMessage }),
  };
}

function setHeaders(response: Response, error: AppError): void {
  if (error.code === 'UNAUTHENTICATED') response.set('WWW-Authenticate', 'User realm="causeway"');
  if (error.allow !== undefined) response.set('Allow', error.allow.join(', '));
  if (error.retryAfterSeconds !== undefined) response.set('Retry-After', String(Math.ceil(error.retryAfterSeconds)));
}

function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const fault = readFault(thrown);
  const translate = fault.type === undefined ? undefined : BODY_FAULTS[fault.type];
  if (translate !== undefined) return translate(fault.message);
  const code = fault.status === undefined ? undefined : CODE_OF_STATUS[fault.status];
  if (code === undefined) return new AppError('INTERNAL', 'Unexpected error', { cause: thrown });
  return new AppError(code, sentence(fault), { details: fault.details, cause: thrown });
}

/** Errors of the body parser, by its `type` (npm body-parser, "Errors"). */
const BODY_FAULTS: Readonly<Record<string, (message: string) => AppError>> = {
  'entity.parse.failed': (message) => {
    // The parser's own words quote the body, which may hold secrets: only the position is passed on.
    const [, position] = / position (\d+)/.exec(message) ?? [];
    return new AppError(
      'REQUEST_INVALID',
      `The body is not JSON${position === undefined ? '' : `: it breaks at position ${position}`}.`,
    );
  },
  'entity.too.large': () => new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than 8 MB.'),
  'encoding.unsupported': () =>
    new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body has a Content-Encoding that is not supported.'),
  'charset.unsupported': () => new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.'),
};

/** What the validator and Express say by status. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'REQUEST_INVALID',
  404: 'NOT_FOUND',
  405: 'OPERATION_UNSUPPORTED',
  406: 'NOT_ACCEPTABLE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

interface Fault {
  readonly type: string | undefined;
  readonly status: number | undefined;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

function readFault(thrown: unknown): Fault {
  const { type, status, message, errors } = Object(thrown);
  return {
    type: typeof type === 'string' ? type : undefined,
    status: typeof status === 'number' ? status : undefined,
    message: typeof message === 'string' ? message : '',
    details: Array.isArray(errors) ? errors.map(toDetail) : [],
  };
}

/** The validator writes `/body/name` and `/query/pageSize`: the place in the request, as a path with dots. */
function toDetail(error: { readonly path?: unknown; readonly message?: unknown }): ErrorDetail {
  const path = String(error.path ?? '')
    .replace(/^\//, '')
    .replaceAll('/', '.');
  return { path, message: String(error.message ?? '') };
}

function sentence({ details, message, status }: Fault): string {
  if (status === 415) return 'Bodies are JSON: send Content-Type: application/json.';
  const [first] = details;
  if (first === undefined) return message;
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return `${first.path} ${first.message}${more}`;
}

/** Answers a path that leads nowhere. */
export function notFound(request: Request): never {
  throw new AppError('NOT_FOUND', `There is no ${request.method} ${request.path}.`);
}
