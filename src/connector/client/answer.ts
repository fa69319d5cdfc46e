import type { EgressResponse } from '../../egress/index.ts';
import type { ProviderResponse } from '../contract.ts';
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
const BYTE_ORDER_MARK = '\ufeff';

/** `accept` is the request's. */
export function readAnswer(raw: EgressResponse, accept: string | undefined): Answer {
  const { status, headers, quotable } = raw;
  const text = readText(raw.body);
  if (text === '') return { response: { status, headers, body: undefined }, misshapen: false, quotable };
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type)) {
    const misshapen = acceptsJson(accept) && (HTML_TYPE.test(type) || isHtml(text));
    return { response: { status, headers, body: text }, misshapen, quotable };
  }
  const body = parseJson(text);
  return {
    response: { status, headers, body: body === undefined ? text : body },
    misshapen: body === undefined && acceptsJson(accept),
    quotable,
  };
}

/** A file is judged by status and headers; its body is read only where the provider may have put words of its own there. */
export function readFileAnswer(raw: EgressResponse): Answer {
  const { status, headers, body, quotable } = raw;
  const isFile = status >= 200 && status < 300 && !JSON_TYPE.test(headers['content-type'] ?? '');
  const judged = isFile
    ? { response: { status, headers, body: undefined }, misshapen: false, quotable }
    : readAnswer(raw, undefined);
  return { ...judged, file: body };
}

function readText(body: Buffer): string {
  const text = body.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @returns undefined when it is not JSON, which has no such value. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function acceptsJson(accept: string | undefined): boolean {
  return accept?.includes('json') ?? false;
}
