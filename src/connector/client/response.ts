import type { EgressResponse } from '../../egress/index.ts';
import { parseJson } from '../../numbers/exact-json.ts';
import { createPacer } from '../../pace.ts';
import type { Redactor } from '../../redaction.ts';
import { boundWaitMs, readRetryAfterMs } from '../../retry-after.ts';
import type { ProviderResponse, RateLimitState } from '../contract.ts';
import { type Hold, noRoom } from './byte-budget.ts';
import { PIECE_BYTES, parsePieces } from './json-pieces.ts';

/** A response as the connector sees it, and whether its body is what was asked for. */
export interface ReadResponse {
  readonly response: ProviderResponse;
  /** A page, or broken JSON, where JSON was asked for. */
  readonly misshapen: boolean;
  /** Its words may be shown to the caller. */
  readonly quotable: boolean;
  /** The body as it came, where a file was asked for. */
  readonly file?: Buffer;
}

const JSON_TYPE = /^[^;]*\bjson\b/i;
const HTML_TYPE = /^[^;]*html\b/i;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export interface ReadingPorts {
  /** Counts what the body is parsed to. */
  readonly hold: Hold;
  readonly signal: AbortSignal;
  /** Told of an answer with so many members that one record in it may have too many. */
  readonly noteMembers?: ((members: number) => void) | undefined;
}

/** `accept` is the request's. @throws AppError OVERLOADED; PROVIDER_PROTOCOL for JSON that is nested too deep, or has too many members */
export async function readResponse(
  ports: ReadingPorts,
  raw: EgressResponse,
  accept: string | undefined,
): Promise<ReadResponse> {
  const { status, headers, quotable } = raw;
  const bytes = withoutMark(raw.body);
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

/** A file is judged by status and headers; its body is read only where the provider may have put words of its own there. */
export async function readFileResponse(ports: ReadingPorts, raw: EgressResponse): Promise<ReadResponse> {
  const { status, headers, body, quotable } = raw;
  const isFile = status >= 200 && status < 300 && !isJsonType(headers);
  const judged = isFile
    ? { response: { status, headers, body: undefined }, misshapen: false, quotable }
    : await readResponse(ports, raw, undefined);
  return { ...judged, file: body };
}

export function isJsonType(headers: Headers): boolean {
  return JSON_TYPE.test(headers['content-type'] ?? '');
}

function withoutMark(body: Buffer): Buffer {
  const isMarked = body[0] === BYTE_ORDER_MARK[0] && BYTE_ORDER_MARK.equals(body.subarray(0, BYTE_ORDER_MARK.length));
  return isMarked ? body.subarray(BYTE_ORDER_MARK.length) : body;
}

/** What parsed JSON takes, in bytes of its text, where nobody looks closer. */
const PARSED_SHARE = 4;

/** @returns undefined when it is not JSON, which has no such value. */
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
  const parsing = parsePieces(bytes);
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
/** Far more than is shown, so that a secret cut here stays unseen; redacting megabytes would take its time. */
const MAX_READ_CHARACTERS = 20_000;

/** Where providers put their words, the most telling first. */
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

/** @returns the provider's own words in a body, fit to be shown; undefined when there are none. HTML is never shown */
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

export function isHtml(text: string): boolean {
  return HTML.test(text.slice(0, 2000));
}

/** Redacted before it is cut, so that no half of a secret remains at the end. */
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

/** Reads `RateLimit-*` (draft-ietf-httpapi-ratelimit-headers-06), `X-RateLimit-*` and `X-Rate-Limit-*`. */
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

/** Budgets are counted by the month at most. */
const MAX_RESET_SECONDS = 31 * 24 * 3_600;

/** What a provider, or its connector, says is passed on where it can be true: whole numbers from 0 on that a caller can read. */
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

/** The first number: `100, 100;w=60` lists the policy behind it. */
function readNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const digits = /^\s*(\d+(?:\.\d+)?)\s*(?:$|[,;])/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const SMALLEST_EPOCH_SECONDS = 1e9;
const SMALLEST_EPOCH_MS = 1e12;

/** Providers write the reset as seconds to go, as seconds since 1970, or as milliseconds since 1970. */
function toSecondsFromNow(reset: number, nowMs: number): number {
  if (reset < SMALLEST_EPOCH_SECONDS) return Math.ceil(reset);
  const resetMs = reset < SMALLEST_EPOCH_MS ? reset * 1000 : reset;
  return Math.max(0, Math.ceil((resetMs - nowMs) / 1000));
}

/** What the provider asks for: its `Retry-After`, else the end of a used-up budget. At most a day. */
export function readWaitMs(headers: Headers, nowMs: number): number | undefined {
  return readRetryAfterMs(headers['retry-after'], nowMs) ?? boundWaitMs(readResetMs(headers, nowMs));
}

function readResetMs(headers: Headers, nowMs: number): number | undefined {
  const state = readRateLimit(headers, nowMs);
  return state?.remaining === 0 && state.resetSeconds !== undefined ? state.resetSeconds * 1000 : undefined;
}
