import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { Principal } from '../accounts/accounts.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError } from '../errors.ts';
import { parseJson } from '../numbers/exact-json.ts';
import { takeTurn } from '../pace.ts';
import { assertLength, readBody } from './body-bytes.ts';
import type { BodyLimits } from './body-limits.ts';
import { type BodyRoom, createBodyRoom, LARGE_BYTES } from './body-room.ts';
import { type JsonShape, measureJson } from './json-shape.ts';
import { assertThere } from './request-end.ts';

export interface BodyBounds {
  readonly limits: BodyLimits;
  /** The memory of this process for the bodies of requests. */
  readonly budget: ByteBudget;
}

/**
 * Parses a body that is within the limits of its operation, every number with all its digits; a request without one has the body `undefined`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, OVERLOADED where `budget` has no room for a large one, or REQUEST_INVALID for
 * what is not well-formed JSON in UTF-8
 */
export async function readJsonBody(request: Request, response: Response, bounds: BodyBounds): Promise<void> {
  const { headers } = request;
  const isThere = hasBody(headers);
  if (isThere) assertJsonType(headers['content-type'] ?? '');
  // The validator compiles its schemas anew for every spelling of the type, and keeps them all.
  headers['content-type'] = 'application/json';
  request.body = isThere ? await askAndRead(request, response, bounds) : undefined;
}

function askAndRead(request: Request, response: Response, { limits, budget }: BodyBounds): Promise<unknown> {
  assertLength(request, limits.bytes);
  askForBody(request, response);
  const principal: Principal | undefined = response.locals.principal;
  const room = createBodyRoom({ budget, account: principal?.accountId, response });
  return readJson(request, response, { limits, room });
}

/** The caller waits for the word before it sends a body (RFC 9110, 10.1.1): by now it is authorized and the length is right. */
export function askForBody(request: Request, response: Response): void {
  if (/(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '')) response.writeContinue();
}

interface Bounds {
  readonly limits: BodyLimits;
  readonly room: BodyRoom;
}

async function readJson(request: Request, response: Response, { limits, room }: Bounds): Promise<unknown> {
  const bytes = await readBody(request, limits.bytes, room);
  const isLarge = bytes.length > LARGE_BYTES;
  if (isLarge) await takeTurnOf(response);
  // Decoding would put replacement characters in place of what cannot be read.
  if (!isUtf8(bytes)) throw new AppError('REQUEST_INVALID', 'The body is not well-formed UTF-8.');
  const measuring = measureJson(bytes, limits);
  let step = measuring.next();
  for (; !step.done; step = measuring.next()) await takeTurnOf(response);
  assertShape(step.value, limits);
  if (isLarge) await takeTurnOf(response);
  const text = utf8.decode(bytes);
  return text === '' ? undefined : parseBody(text);
}

/** Each step over a large body is in a turn of its own: a few megabytes take it some ten milliseconds. Whoever hung up meanwhile needs none. */
async function takeTurnOf(response: Response): Promise<void> {
  await takeTurn();
  assertThere(response);
}

/** Leaves out the byte order mark. */
const utf8 = new TextDecoder();

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

function assertShape({ depth, members, ownMembers }: JsonShape, limits: BodyLimits): void {
  if (depth > limits.depth) {
    throw new AppError('REQUEST_INVALID', `The body is nested deeper than ${limits.depth} levels.`);
  }
  if (members > limits.members) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The body has more than ${limits.members} members, those inside others counted.`,
    );
  }
  if (ownMembers > limits.ownMembers) {
    throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${limits.ownMembers} members.`);
  }
}

/** A length of 0 is no body. */
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
