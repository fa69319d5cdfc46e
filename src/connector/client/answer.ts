import type { EgressResponse } from '../../egress/index.ts';
import { parseJson } from '../../numbers/exact-json.ts';
import { createPacer } from '../../pace.ts';
import type { ProviderResponse } from '../contract.ts';
import { type Hold, noRoom } from './byte-budget.ts';
import { PIECE_BYTES, parsePieces } from './json-pieces.ts';
import { isHtml } from './provider-message.ts';

/** An answer as the connector sees it, and whether its body is what was asked for. */
export interface Answer {
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
  readonly hold?: Hold | undefined;
  readonly signal: AbortSignal;
}

/** `accept` is the request's. @throws AppError OVERLOADED; PROVIDER_PROTOCOL for JSON that is nested too deep */
export async function readAnswer(
  ports: ReadingPorts,
  raw: EgressResponse,
  accept: string | undefined,
): Promise<Answer> {
  const { status, headers, quotable } = raw;
  const bytes = withoutMark(raw.body);
  if (bytes.length === 0) return { response: { status, headers, body: undefined }, misshapen: false, quotable };
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type)) {
    const text = bytes.toString('utf8');
    const misshapen = acceptsJson(accept) && (HTML_TYPE.test(type) || isHtml(text));
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
export async function readFileAnswer(ports: ReadingPorts, raw: EgressResponse): Promise<Answer> {
  const { status, headers, body, quotable } = raw;
  const isFile = status >= 200 && status < 300 && !JSON_TYPE.test(headers['content-type'] ?? '');
  const judged = isFile
    ? { response: { status, headers, body: undefined }, misshapen: false, quotable }
    : await readAnswer(ports, raw, undefined);
  return { ...judged, file: body };
}

function withoutMark(body: Buffer): Buffer {
  const isMarked = body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return isMarked ? body.subarray(BYTE_ORDER_MARK.length) : body;
}

/** What parsed JSON takes, in bytes of its text, where nobody looks closer. */
const PARSED_SHARE = 4;

/** @returns undefined when it is not JSON, which has no such value. */
async function parseBody(ports: ReadingPorts, bytes: Buffer): Promise<unknown> {
  try {
    if (bytes.length > PIECE_BYTES) return await parseLarge(ports, bytes);
    if (ports.hold?.take(bytes.length * PARSED_SHARE) === false) throw noRoom();
    return parseJson(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function parseLarge({ hold, signal }: ReadingPorts, bytes: Buffer): Promise<unknown> {
  const pacer = createPacer(signal);
  const parsing = parsePieces(bytes);
  for (;;) {
    const step = parsing.next();
    if (step.done) return step.value;
    if (hold?.take(step.value) === false) throw noRoom();
    if (pacer.isDue()) await pacer.pause();
  }
}

function acceptsJson(accept: string | undefined): boolean {
  return accept?.includes('json') ?? false;
}
