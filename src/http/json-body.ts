import { isUtf8 } from 'node:buffer';
import type { Request, Response } from 'express';
import type { TenantIds } from '../accounts/store.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError } from '../errors.ts';
import { parseJson } from '../numbers/exact-json.ts';
import { type JsonShape, measureJson } from '../numbers/json-shape.ts';
import { takeTurn } from '../pace.ts';
import { onlyJson } from '../shared-errors.ts';
import { askForBody, assertLength, KB, LARGE_BYTES, MB, openBodyRoom, readBody } from './body-bytes.ts';
import { assertThere, hasBody } from './connection.ts';

/** Limits of a JSON body. */
interface BodyLimits extends JsonShape {
  readonly bytes: number;
}

const MOST_MEMBERS = 10_000;
/** Far more than any record has. Text goes through recursive functions further on, JSON.stringify among them. */
const MOST_DEPTH = 100;

export const ORDINARY: BodyLimits = {
  bytes: 256 * KB,
  depth: MOST_DEPTH,
  members: MOST_MEMBERS,
  ownMembers: MOST_MEMBERS,
};
/**
 * Limits for records and events, which providers and callers create. A limit on bytes alone would not be enough: 8 MB of empty objects, or
 * of names, block the parser for half a second.
 */
export const LARGE: BodyLimits = { bytes: 8 * MB, depth: MOST_DEPTH, members: 100_000, ownMembers: MOST_MEMBERS };

interface BodyBounds {
  readonly limits: BodyLimits;
  /** Memory limit of this process for the bodies of requests. */
  readonly budget: ByteBudget;
}

/**
 * Parses a body within the limits of its operation. Numbers keep all their digits. A request without a body results in `undefined`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE; OVERLOADED if `budget` has no room for a large body; REQUEST_INVALID if it is
 * not well-formed JSON in UTF-8
 */
export async function readJsonBody(request: Request, response: Response, bounds: BodyBounds): Promise<unknown> {
  if (!hasBody(request.headers)) return undefined;
  const { limits, budget } = bounds;
  assertJsonType(request.headers['content-type'] ?? '');
  assertLength(request, limits.bytes);
  askForBody(request, response);
  const principal: TenantIds | undefined = response.locals.principal;
  const bytes = await readBody(request, limits.bytes, openBodyRoom(budget, principal?.accountId, response));
  const isLarge = bytes.length > LARGE_BYTES;
  if (isLarge) await takeTurnOf(response);
  // Decoding would put replacement characters in place of what cannot be read.
  if (!isUtf8(bytes)) throw new AppError('REQUEST_INVALID', 'The body is not well-formed UTF-8.');
  await assertJsonShape(bytes, limits, response);
  if (isLarge) await takeTurnOf(response);
  const text = utf8.decode(bytes);
  return text === '' ? undefined : parseText(text);
}

/** Checks that bytes stay within the limits of a JSON body. @throws AppError REQUEST_INVALID, PAYLOAD_TOO_LARGE */
export async function assertJsonShape(bytes: Uint8Array, limits: BodyLimits, response: Response): Promise<void> {
  const measuring = measureJson(bytes, limits);
  let step = measuring.next();
  for (; !step.done; step = measuring.next()) await takeTurnOf(response);
  assertShape(step.value, limits);
}

/**
 * Each step over a large body runs in a turn of its own, because a few megabytes take some ten milliseconds. It is skipped when the caller
 * has closed the connection.
 */
async function takeTurnOf(response: Response): Promise<void> {
  await takeTurn();
  assertThere(response);
}

/** Leaves out the byte order mark. */
const utf8 = new TextDecoder();

/**
 * Parses a JSON text.
 * @param what the name of the text at the beginning of the message
 * @throws AppError REQUEST_INVALID
 */
export function parseText(text: string, what = 'The body'): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    // The parser's own words quote the body, which may hold secrets: only the position is passed on.
    const [, position] = / position (\d+)/.exec(error instanceof SyntaxError ? error.message : '') ?? [];
    const positionText = position === undefined ? '' : `: it breaks at position ${position}`;
    throw new AppError('REQUEST_INVALID', `${what} is not JSON${positionText}.`);
  }
}

function assertShape({ depth, members, ownMembers }: JsonShape, limits: BodyLimits): void {
  if (depth > limits.depth) {
    throw new AppError('REQUEST_INVALID', `The body is nested deeper than ${limits.depth} levels.`);
  }
  if (members > limits.members) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The body has more than ${limits.members} members, nested members included.`,
    );
  }
  if (ownMembers > limits.ownMembers) {
    throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${limits.ownMembers} members.`);
  }
}

function assertJsonType(type: string): void {
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw onlyJson();
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? [];
  if (charset.toLowerCase() !== 'utf-8') throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be in UTF-8.');
}
