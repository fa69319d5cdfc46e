import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from './problem.ts';

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export function json(value: unknown, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/json;charset=UTF-8' }, body: JSON.stringify(value) };
}

export function html(text: string, status = 200): Answer {
  return { status, headers: { 'content-type': 'text/html;charset=UTF-8' }, body: text };
}

export function redirect(location: string): Answer {
  return { status: 302, headers: { location } };
}

export function send(response: ServerResponse, { status = 200, headers = {}, body = '' }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

export function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof Problem) {
    send(response, json(error, error.status));
  } else {
    // A fault of the simulator itself: seen where it runs, and by the test that caused it.
    console.error(error);
    send(response, json(new Problem(500, 'UNKNOWN_EXCEPTION', 'The simulator failed.'), 500));
  }
}

const MAX_BODY_BYTES = 10_000_000;

/** By events: iterating over the request costs more than answering it. */
export function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > MAX_BODY_BYTES) reject(new Problem(413, 'REQUEST_ENTITY_TOO_LARGE', 'The body is too large.'));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    });
    request.on('error', reject);
  });
}

/** @throws Problem 400 for anything but a JSON object. */
export function parseJson(text: string): Readonly<Record<string, unknown>> {
  const value = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Problem(400, 'JSON_PARSER_ERROR', 'The HTTP entity body is required to be a JSON object.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem(400, 'JSON_PARSER_ERROR', error instanceof Error ? error.message : String(error));
  }
}

/** The host that the caller meant (RFC 7239); undefined when it called the simulator as such. */
export function meantHost({ headers }: IncomingMessage): string | undefined {
  return /(?:^|;)\s*host="?([^";,]+)/i.exec(headers.forwarded?.toString() ?? '')?.[1]?.toLowerCase();
}
