import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { AppError } from '../errors.ts';
import { parseJson } from '../numbers/exact-json.ts';
import { type BodyLimits, bodyLimitsOf } from './body-limits.ts';
import { measureJson } from './json-shape.ts';

const readers = new Map<BodyLimits, RequestHandler>();

const readText: RequestHandler = (request, response, next) => {
  const { headers } = request;
  const isThere = hasBody(headers);
  if (isThere) assertJsonType(headers['content-type'] ?? '');
  // The validator compiles its schemas anew for every spelling of the type, and keeps them all.
  headers['content-type'] = 'application/json';
  if (!isThere) return next();
  const limits = bodyLimitsOf(response.locals.scope, request.method, request.path);
  assertLength(headers, limits);
  askForBody(request, response);
  readerFor(limits)(request, response, next);
};

/** The reader would say so as well, but only after all of it has come. */
function assertLength(
  { 'content-length': length, 'content-encoding': encoding }: IncomingHttpHeaders,
  limits: BodyLimits,
) {
  const isPacked = encoding !== undefined && encoding.toLowerCase() !== 'identity';
  if (!isPacked && Number(length) > limits.bytes) throw new BodyFault('entity.too.large', limits.bytes);
}

/** The caller waits for the word before it sends a body (RFC 9110, 10.1.1): by now it is authorized and the length is right. */
export function askForBody(request: Request, response: Response): void {
  if (/(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '')) response.writeContinue();
}

const parseText: RequestHandler = (request, _response, next) => {
  const text: unknown = request.body;
  request.body = typeof text !== 'string' || text === '' ? undefined : parseBody(text);
  next();
};

/**
 * Parses a body that is within the limits of its operation, every number with all its digits; a request without one has the body `undefined`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or REQUEST_INVALID for what is not well-formed JSON in UTF-8
 */
export const jsonBody: readonly RequestHandler[] = [readText, parseText];

function readerFor(limits: BodyLimits): RequestHandler {
  let read = readers.get(limits);
  if (read === undefined) {
    read = createReader(limits);
    readers.set(limits, read);
  }
  return read;
}

function createReader(limits: BodyLimits): RequestHandler {
  return express.text({
    limit: limits.bytes,
    type: () => true,
    verify: (_request, _response, body) => {
      // Decoding would put replacement characters in place of what cannot be read.
      if (!isUtf8(body)) throw new BodyFault('entity.not.utf8');
      assertShape(body, limits);
    },
  });
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    // The parser's own words quote the body, which may hold secrets: only the position is passed on.
    const [, position] = / position (\d+)/.exec(error instanceof SyntaxError ? error.message : '') ?? [];
    const place = position === undefined ? '' : `: it breaks at position ${position}`;
    throw new AppError('REQUEST_INVALID', `The body is not JSON${place}.`);
  }
}

function assertShape(body: Buffer, limits: BodyLimits): void {
  const { depth, members, ownMembers } = measureJson(body, limits);
  if (depth > limits.depth) throw new BodyFault('entity.too.deep', limits.depth);
  if (members > limits.members) throw new BodyFault('entity.too.many.members', limits.members);
  if (ownMembers > limits.ownMembers) throw new BodyFault('entity.too.many.own.members', limits.ownMembers);
}

/** Known by the `type` and the `limit`, as the errors of the parser itself are: it gives others' errors a status of its own. */
class BodyFault extends Error {
  readonly type: string;
  readonly limit: number | undefined;

  constructor(type: string, limit?: number) {
    super(type);
    this.type = type;
    this.limit = limit;
  }
}

/** A length of 0 is no body; the parser would make an empty object of it. */
export function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || (length !== undefined && Number(length) !== 0);
}

function assertJsonType(type: string): void {
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Bodies are JSON: send Content-Type: application/json.');
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  if (charset.toLowerCase() !== 'utf-8') throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
}
