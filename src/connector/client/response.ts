import type { EgressResponse } from '../../egress/index.ts';
import { parseJson } from '../../numbers/exact-json.ts';
import { PIECE_BYTES, parsePieces } from '../../numbers/parse-pieces.ts';
import { createPacer } from '../../pace.ts';
import type { Redactor } from '../../redaction.ts';
import { boundWaitMs, readRetryAfterMs } from '../../retry-after.ts';
import type { ProviderResponse, RateLimitState } from '../contract.ts';
import { type Hold, noRoom } from './byte-budget.ts';
import { RESPONSE_LIMITS } from './response-limits.ts';

/** A response as the connector sees it, and whether its body has the requested form. */
export interface ReadResponse {
  readonly response: ProviderResponse;
  /** Whether the body is a page or invalid JSON although JSON was requested. */
  readonly misshapen: boolean;
  /** Whether the caller may read its words. */
  readonly quotable: boolean;
  /** The unchanged body, where a file was requested. */
  readonly file?: Buffer;
}

const JSON_TYPE = /^[^;]*\bjson\b/i;
const HTML_TYPE = /^[^;]*html\b/i;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The ports for reading a response. */
interface ReadingPorts {
  /** Counts the memory of the parsed body. */
  readonly hold: Hold;
  readonly signal: AbortSignal;
  /** Receives the number of members of a large response, in which one record may have too many. */
  readonly noteMembers?: ((members: number) => void) | undefined;
}

/**
 * Reads a response. `accept` is a header of its request.
 * @throws AppError OVERLOADED; PROVIDER_PROTOCOL for JSON that is nested too deeply or has too many members
 */
export async function readResponse(
  ports: ReadingPorts,
  raw: EgressResponse,
  accept: string | undefined,
): Promise<ReadResponse> {
  const { status, headers, quotable } = raw;
  const bytes = raw.body[0] === BYTE_ORDER_MARK[0] ? withoutMark(raw.body) : raw.body;
  if (bytes.length === 0) return { response: { status, headers, body: undefined }, misshapen: false, quotable };
  if (!isJsonType(headers)) {
    const text = bytes.toString('utf8');
    const misshapen = acceptsJson(accept) && (HTML_TYPE.test(headers['content-type'] ?? '') || isHtml(text));
    return { response: { status, headers, body: text }, misshapen, quotable };
  }
  const body = await parseBody(ports, bytes);
  return {
    response: { status, headers, body: body === undefined ? bytes.toString('utf8') : body },
    misshapen: body === undefined && acceptsJson(accept),
    quotable,
  };
}

/**
 * Reads the response to a request for a file. A file is judged by status and headers; its body is parsed only where it may hold words of
 * the provider.
 */
export async function readFileResponse(ports: ReadingPorts, raw: EgressResponse): Promise<ReadResponse> {
  const { status, headers, body, quotable } = raw;
  const isFile = status >= 200 && status < 300 && !isJsonType(headers);
  const judged = isFile
    ? { response: { status, headers, body: undefined }, misshapen: false, quotable }
    : await readResponse(ports, raw, undefined);
  return { ...judged, file: body };
}

/** Returns whether the content type says JSON. */
export function isJsonType(headers: Headers): boolean {
  return JSON_TYPE.test(headers['content-type'] ?? '');
}

function withoutMark(body: Buffer): Buffer {
  const isMarked = BYTE_ORDER_MARK.equals(body.subarray(0, BYTE_ORDER_MARK.length));
  return isMarked ? body.subarray(BYTE_ORDER_MARK.length) : body;
}

/** Estimated ratio of the memory of parsed JSON to the bytes of its text, for small bodies. */
const PARSED_SHARE = 4;

/** @returns undefined when the body is not JSON, which has no such value */
async function parseBody(ports: ReadingPorts, bytes: Buffer): Promise<unknown> {
  try {
    if (bytes.length > PIECE_BYTES) return await parseLarge(ports, bytes);
    if (ports.hold.take(bytes.length * PARSED_SHARE) === false) throw noRoom();
    return parseJson(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function parseLarge({ hold, signal, noteMembers }: ReadingPorts, bytes: Buffer): Promise<unknown> {
  const pacer = createPacer(signal);
  const parsing = parsePieces(bytes, RESPONSE_LIMITS);
  let members = 0;
  for (;;) {
    const step = parsing.next();
    if (step.done) {
      noteMembers?.(members);
      return step.value;
    }
    members += step.value.members;
    if (hold.take(step.value.bytes) === false) throw noRoom();
    if (pacer.isDue()) await pacer.pause();
  }
}

function acceptsJson(accept: string | undefined): boolean {
  return accept?.includes('json') ?? false;
}

const MAX_CHARACTERS = 500;
/** Far more than is shown, so that a secret that is cut here stays invisible. Redacting megabytes would take too long. */
const MAX_READ_CHARACTERS = 20_000;

/** The members in which providers put their words, the most informative first. */
const MESSAGE_PATHS: readonly (readonly (string | number)[])[] = [
  ['error', 'message'],
  ['error', 'message', 'value'],
  ['error_description'],
  ['message'],
  ['errors', 0, 'message'],
  ['errors', 0, 'detail'],
  ['errors', 0],
  [0, 'message'],
  ['errorMessage'],
  ['errorMessages', 0],
  ['detail'],
  ['description'],
  ['title'],
  ['error'],
  [],
];

/** Returns the provider's own words in a body, ready to be shown; undefined when there are none. HTML is never shown. */
export function readProviderMessage(redactor: Redactor, body: unknown): string | undefined {
  for (const path of MESSAGE_PATHS) {
    const text = getText(body, path);
    if (text !== undefined && !isHtml(text)) return toShowable(redactor, text, MAX_CHARACTERS);
  }
  return undefined;
}

function getText(body: unknown, path: readonly (string | number)[]): string | undefined {
  const value = path.reduce(getMember, body);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function getMember(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const HTML = /<(!doctype\s+html|\/?(html|head|body|title|h[1-6]|p|div|span|br|hr|a|pre|center|script|table))\b[^>]*>/i;

/** Returns whether a text looks like HTML. */
function isHtml(text: string): boolean {
  return HTML.test(text.slice(0, 2000));
}

/** Redacts a text, then shortens it, so that no half of a secret remains at its end. */
export function toShowable(redactor: Redactor, text: string, maxCharacters: number): string {
  const clean = redactor
    .redact(text.slice(0, MAX_READ_CHARACTERS))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return clean.length <= maxCharacters ? clean : `${clean.slice(0, maxCharacters - 1)}…`;
}

type Headers = Readonly<Record<string, string>>;

const NAMES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'].map((prefix) => ({
  limit: `${prefix}limit`,
  remaining: `${prefix}remaining`,
  reset: `${prefix}reset`,
}));

/**
 * Reads the rate limit from `RateLimit-*` (draft-ietf-httpapi-ratelimit-headers-06), `X-RateLimit-*` or `X-Rate-Limit-*`. Undefined where
 * there is none.
 */
export function readRateLimit(headers: Headers, nowMs: number): RateLimitState | undefined {
  for (const names of NAMES) {
    if (!(names.limit in headers || names.remaining in headers || names.reset in headers)) continue;
    const limit = readNumber(headers[names.limit]);
    const remaining = readNumber(headers[names.remaining]);
    const reset = readNumber(headers[names.reset]);
    if (limit === undefined && remaining === undefined && reset === undefined) continue;
    const resetSeconds = reset === undefined ? undefined : toSecondsFromNow(reset, nowMs);
    return judgeRateLimit({ limit, remaining, resetSeconds });
  }
  return undefined;
}

type Claims = { readonly [Name in keyof RateLimitState]?: number | undefined };

/** The longest window of a rate limit is a month. */
const MAX_RESET_SECONDS = 31 * 24 * 3_600;

/** Returns the plausible parts of a reported rate limit: whole numbers from 0 that a caller can read. */
export function judgeRateLimit({ limit, remaining, resetSeconds }: Claims): RateLimitState {
  return {
    ...(isCount(limit) && { limit: Math.floor(limit) }),
    ...(isCount(remaining) && { remaining: Math.floor(remaining) }),
    ...(isCount(resetSeconds) && resetSeconds <= MAX_RESET_SECONDS && { resetSeconds: Math.ceil(resetSeconds) }),
  };
}

function isCount(value: number | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** Reads the first number. `100, 100;w=60` has the policy behind it. */
function readNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const digits = /^\s*(\d+(?:\.\d+)?)\s*(?:$|[,;])/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const SMALLEST_EPOCH_SECONDS = 1e9;
const SMALLEST_EPOCH_MS = 1e12;

/** Converts a reset to seconds from now. Providers report seconds from now, seconds since 1970, or milliseconds since 1970. */
function toSecondsFromNow(reset: number, nowMs: number): number {
  if (reset < SMALLEST_EPOCH_SECONDS) return Math.ceil(reset);
  const resetMs = reset < SMALLEST_EPOCH_MS ? reset * 1000 : reset;
  return Math.max(0, Math.ceil((resetMs - nowMs) / 1000));
}

/**
 * Returns the wait that the provider requests in milliseconds: its `Retry-After`, else the end of an exhausted rate limit. At most a day.
 */
export function readWaitMs(headers: Headers, nowMs: number): number | undefined {
  return readRetryAfterMs(headers['retry-after'], nowMs) ?? boundWaitMs(readResetMs(headers, nowMs));
}

function readResetMs(headers: Headers, nowMs: number): number | undefined {
  const state = readRateLimit(headers, nowMs);
  return state?.remaining === 0 && state.resetSeconds !== undefined ? state.resetSeconds * 1000 : undefined;
}
