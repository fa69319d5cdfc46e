import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import express, { type RequestHandler } from 'express';
import { AppError } from '../errors.ts';
import { parseJson } from '../numbers/exact-json.ts';

const MAX_BODY = '8mb';
/** Far more than any record has. Text goes through recursive functions further on, JSON.stringify among them. */
const MAX_DEPTH = 100;

/**
 * Parses a body of at most 8 MB, every number with all its digits; a request without one has the body `undefined`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or REQUEST_INVALID for what is not well-formed JSON in UTF-8
 */
export function jsonBody(): readonly RequestHandler[] {
  const readText = express.text({ limit: MAX_BODY, type: () => true, verify: assertUtf8 });
  return [
    (request, response, next) => {
      if (!hasBody(request.headers)) return next();
      assertJsonType(request.headers['content-type'] ?? '');
      readText(request, response, next);
    },
    (request, _response, next) => {
      request.body = parseBody(request.body);
      assertShallow(request.body);
      next();
    },
  ];
}

/** A length of 0 is no body; the parser would make an empty object of it. */
function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || (length !== undefined && Number(length) !== 0);
}

function assertJsonType(type: string): void {
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Bodies are JSON: send Content-Type: application/json.');
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  if (charset.toLowerCase() !== 'utf-8') throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
}

function parseBody(text: unknown): unknown {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    // The parser's own words quote the body, which may hold secrets: only the position is passed on.
    const [, position] = / position (\d+)/.exec(error instanceof SyntaxError ? error.message : '') ?? [];
    const place = position === undefined ? '' : `: it breaks at position ${position}`;
    throw new AppError('REQUEST_INVALID', `The body is not JSON${place}.`);
  }
}

/** Decoding would put replacement characters in place of what cannot be read. The error is known by the parser's `type`. */
function assertUtf8(_request: unknown, _response: unknown, body: Buffer): void {
  if (!isUtf8(body)) throw new Error('The body is not UTF-8.');
}

/** Level by level, because a recursive check would itself overflow. */
function assertShallow(body: unknown): void {
  let level = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw new AppError('REQUEST_INVALID', `The body is nested deeper than ${MAX_DEPTH} levels.`);
    }
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
}
