import type { Readable } from 'node:stream';

/** The response of a simulated endpoint. */
export interface SimulatedResponse {
  /** The status. Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Replaces a body that is too large for memory. It is sent as it is read, without a length. */
  readonly stream?: Readable;
}

type Headers = NonNullable<SimulatedResponse['headers']>;

/** Returns a response with a value as JSON. */
export function json(value: unknown, status = 200, headers: Headers = {}): SimulatedResponse {
  return typed('application/json', JSON.stringify(value), status, headers);
}

/** Returns a response with a page of HTML. */
export function html(text: string, status = 200): SimulatedResponse {
  return typed('text/html; charset=utf-8', text, status);
}

/** Returns a response with a document of XML. */
export function xml(text: string, status = 200): SimulatedResponse {
  return typed('application/xml', text, status);
}

/** Returns a response with a body of any type. */
export function typed(type: string, body: string | Uint8Array, status = 200, headers: Headers = {}): SimulatedResponse {
  return { status, headers: { 'content-type': type, ...headers }, body };
}

/** Returns a response without a body. */
export function empty(status = 204, headers: Headers = {}): SimulatedResponse {
  return { status, headers };
}

/** Returns a redirect with the status 302. */
export function redirect(location: string): SimulatedResponse {
  return { status: 302, headers: { location } };
}

/** Escapes a text for HTML and XML. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
