import type { ErrorRequestHandler, Request, Response } from 'express';
import { DatabaseUnavailableError, isOutOfTime } from '../db/unavailable.ts';
import {
  AppError,
  cutText,
  type ErrorCode,
  type ErrorDetail,
  escapeName,
  inWords,
  listFaults,
  MOST_FAULTS,
  redactAppError,
  redactPointer,
  segmentsOf,
  summarise,
} from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Redactor } from '../redaction.ts';
import { setBudget } from './answer.ts';
import type { RedactCall } from './call-redactor.ts';
import { suggestQueryName } from './query-names.ts';
import { isHangUp } from './request-end.ts';

/** The body of every error (decisions D4). */
export interface Problem {
  readonly requestId: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly providerMessage?: string;
}

/** A restart of PostgreSQL or a fail-over takes about as long. */
const DATABASE_RETRY_SECONDS = 5;

export interface ProblemPorts {
  readonly log: Logger;
  readonly redactCall: RedactCall;
}

/** The only place where an error becomes a response. */
export function createProblemHandler({ log, redactCall }: ProblemPorts): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    if (isHangUp(thrown) && response.destroyed) return;
    const redactor = redactCall(request, response);
    const error = toAppError(thrown, request, redactor.redact);
    response.locals.errorCode = error.code;
    if (error.code === 'INTERNAL' || thrown instanceof DatabaseUnavailableError || isOutOfTime(thrown))
      log.error({ redactor, err: thrown, requestId: response.locals.requestId, path: request.path }, 'request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    setHeaders(response, error);
    const text = JSON.stringify(toProblem(redactAppError(error, redactor), response.locals.requestId));
    // Said here for the answers to HEAD, where Node sees no body to count.
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
    message: code === 'INTERNAL' ? 'Something went wrong here. The request id finds it in the log.' : message,
    ...(details.length > 0 && { details }),
    ...(providerMessage !== undefined && { providerMessage }),
  };
}

function setHeaders(response: Response, error: AppError): void {
  if (error.code === 'UNAUTHENTICATED' && !response.hasHeader('WWW-Authenticate'))
    response.set('WWW-Authenticate', 'User realm="causeway"');
  if (error.budget !== undefined) setBudget(response, error.budget);
  if (error.allow !== undefined) response.set('Allow', withHead(error.allow).join(', '));
  if (error.retryAfterSeconds !== undefined) response.set('Retry-After', String(Math.ceil(error.retryAfterSeconds)));
}

/** What takes GET takes HEAD. */
function withHead(methods: readonly string[]): readonly string[] {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])))];
}

function toAppError(thrown: unknown, request: Request, redact: Redactor['redact']): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof DatabaseUnavailableError)
    return overloaded('The database cannot be reached at the moment.', thrown);
  if (isOutOfTime(thrown)) return overloaded('The database did not get to this in time.', thrown);
  const fault = readFault(thrown, (error) => toDetail(error, request, redact));
  const code = fault.status === undefined ? undefined : CODE_OF_STATUS[fault.status];
  switch (code) {
    case undefined:
      return new AppError('INTERNAL', 'Unexpected error', { cause: thrown });
    case 'NOT_FOUND':
      return nothingThere(request);
    case 'UNSUPPORTED_MEDIA_TYPE':
      return new AppError(code, 'Bodies are JSON: send Content-Type: application/json.');
    default:
      return new AppError(code, sentence(fault), { details: listFaults(fault.faults), cause: thrown });
  }
}

function overloaded(message: string, cause: unknown): AppError {
  return new AppError('OVERLOADED', message, { retryAfterSeconds: DATABASE_RETRY_SECONDS, cause });
}

export function wrongMethod({ method, baseUrl, path }: Request, allow: readonly string[]): AppError {
  const message = `There is no ${method} ${cutText(baseUrl + path)}; it takes ${allow.join(', ')}.`;
  return new AppError('OPERATION_UNSUPPORTED', message, { allow });
}

/** What the validator and Express say by status. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'REQUEST_INVALID',
  404: 'NOT_FOUND',
  406: 'NOT_ACCEPTABLE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

interface Fault {
  readonly status: number | undefined;
  readonly message: string;
  /** Not all of them, where there are more than are told. */
  readonly faults: readonly ErrorDetail[];
}

function readFault(thrown: unknown, toDetail: (error: ValidatorError) => ErrorDetail): Fault {
  const { status, message, errors } = Object(thrown);
  const found: readonly unknown[] = Array.isArray(errors) ? errors : [];
  return {
    status: typeof status === 'number' ? status : undefined,
    message: String(message ?? ''),
    faults: found.slice(0, MOST_FAULTS + 1).map((fault) => toDetail(Object(fault))),
  };
}

interface ValidatorError {
  readonly path?: unknown;
  readonly message?: unknown;
  /** The JSON Schema keyword with a suffix: `required.openapi.validation`. */
  readonly errorCode?: unknown;
}

/** Where the validator's words do not fit behind the place that they are about. */
const WORDS: Readonly<Record<string, string>> = { additionalProperties: 'is not known here', required: 'is missing' };

/** The validator writes `/body/name`, and `/params/id` for what is in the path. */
function toDetail(
  { path, message, errorCode }: ValidatorError,
  request: Request,
  redact: Redactor['redact'],
): ErrorDetail {
  const [keyword = ''] = String(errorCode).split('.');
  const text = WORDS[keyword] ?? cutNames(String(message ?? ''));
  const isUnknownParameter = text.startsWith('Unknown query parameter ');
  const namesUnknown = isUnknownParameter || keyword === 'additionalProperties';
  const pointed = namesUnknown ? escapeEnd(String(path ?? ''), request) : String(path ?? '');
  const place = redactPointer(pointed, redact).replace(/^\/params(?=\/|$)/, '/path');
  if (!isUnknownParameter) return { path: place, message: text };
  const { hint, nearest } = suggestQueryName(request, segmentsOf(place).at(-1) ?? '');
  return { path: place, message: `${text}${hint === '' ? '' : `.${hint}`}`, ...nearest };
}

/** The validator escapes the names that lead to a name which is not known, and not that name itself. It is not cut here: secrets are looked for first. */
function escapeEnd(path: string, { body, query }: Request): string {
  let holder: unknown = { body, query };
  let at = 1;
  while (!Object.hasOwn(Object(holder), path.slice(at))) {
    const end = path.indexOf('/', at);
    const [name = ''] = segmentsOf(path.slice(at - 1, end));
    if (end < 0 || !Object.hasOwn(Object(holder), name)) return path;
    holder = Reflect.get(Object(holder), name);
    at = end + 1;
  }
  return path.slice(0, at) + escapeName(path.slice(at));
}

function cutNames(message: string): string {
  return message.replace(/'([^']*)'/g, (_, name: string) => `'${cutText(name)}'`);
}

function sentence({ faults, message }: Fault): string {
  const [first, ...others] = faults;
  if (first === undefined) return message;
  // Some of the validator's messages are sentences of their own.
  const subject = /^[A-Z]/.test(first.message) ? '' : `${inWords(first.path ?? '')} `;
  return summarise([{ message: subject + first.message + (first.message.endsWith('?') ? '' : '.') }, ...others]);
}

/** Answers a path that leads nowhere. */
export function notFound(request: Request): never {
  throw nothingThere(request);
}

function nothingThere({ method, baseUrl, path }: Request): AppError {
  return new AppError('NOT_FOUND', `There is no ${method} ${cutText(baseUrl + path)}.`);
}
