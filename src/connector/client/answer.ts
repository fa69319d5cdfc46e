import type { EgressResponse } from '../../egress/index.ts';
import type { ProviderResponse } from '../contract.ts';
import { isHtml } from './provider-message.ts';

/** An answer as the connector sees it, and whether its body is what was asked for. */
export interface Answer {
  readonly response: ProviderResponse;
  /** A page, or broken JSON, where JSON was asked for. */
  readonly misshapen: boolean;
}

const JSON_TYPE = /^[^;]*\bjson\b/i;
const HTML_TYPE = /^[^;]*html\b/i;
const BYTE_ORDER_MARK = '\ufeff';

/** `accept` is the request's. */
export function readAnswer(raw: EgressResponse, accept: string | undefined): Answer {
  const { status, headers } = raw;
  const text = readText(raw.body);
  if (text === '') return { response: { status, headers, body: undefined }, misshapen: false };
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type)) {
    const misshapen = acceptsJson(accept) && (HTML_TYPE.test(type) || isHtml(text));
    return { response: { status, headers, body: text }, misshapen };
  }
  const body = parseJson(text);
  return {
    response: { status, headers, body: body === undefined ? text : body },
    misshapen: body === undefined && acceptsJson(accept),
  };
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
