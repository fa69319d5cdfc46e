import type { Readable } from 'node:stream';

/** What a simulated endpoint answers. */
export interface Answer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** In place of a body that is too large to be held: sent as it is read, without a length. */
  readonly stream?: Readable;
}

type Headers = NonNullable<Answer['headers']>;

export function json(value: unknown, status = 200, headers: Headers = {}): Answer {
  return typed('application/json', JSON.stringify(value), status, headers);
}

export function html(text: string, status = 200): Answer {
  return typed('text/html; charset=utf-8', text, status);
}

export function xml(text: string, status = 200): Answer {
  return typed('application/xml', text, status);
}

export function typed(type: string, body: string | Uint8Array, status = 200, headers: Headers = {}): Answer {
  return { status, headers: { 'content-type': type, ...headers }, body };
}

export function empty(status = 204, headers: Headers = {}): Answer {
  return { status, headers };
}

export function redirect(location: string): Answer {
  return { status: 302, headers: { location } };
}

export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
