import type { IncomingMessage, ServerResponse } from 'node:http';

/** An error of the newer endpoints: RFC 7807. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** An error of the older endpoints: no body, the words in a header. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly json?: string;
}

export function json(value: unknown): Answer {
  return { json: JSON.stringify(value) };
}

export function send(response: ServerResponse, answer: Answer): void {
  const { status = 200, headers, json: text = '' } = answer;
  response.writeHead(status, {
    'content-type': text === '' ? 'text/html; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** The older endpoints answer XML unless JSON is asked for. What the XML says is not simulated. */
export function sendXml(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8' });
  response.end('<?xml version="1.0"?>\n<simulated/>\n');
}

export function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof Problem) {
    const { status, code, message } = error;
    const body = { type: 'about:blank', title: code, status, detail: message, code };
    const headers = { 'content-type': 'application/problem+json', 'x-request-id': 'simulated' };
    send(response, { status, headers, json: JSON.stringify(body) });
  } else if (error instanceof Refusal) {
    const message = error.message.replaceAll(/[^\x20-\x7e]/g, '?');
    send(response, { status: error.status, headers: { ...error.headers, 'x-bamboohr-error-message': message } });
  } else {
    // A fault of the simulator itself: seen where it runs, and by the test that caused it.
    console.error(error);
    send(response, { status: 500, headers: { 'x-bamboohr-error-message': 'The simulator failed.' } });
  }
}

const MAX_BODY_BYTES = 8_000_000;

/** @throws Refusal 400 for anything but a JSON object. */
export async function readJsonBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const body = parseJson(await readText(request));
  if (!isRecord(body)) throw new Refusal(400, 'Malformed JSON');
  return body;
}

/** By events: iterating over the request costs more than answering it. */
function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > MAX_BODY_BYTES) reject(new Refusal(413, 'The body is too large'));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    });
    request.on('error', reject);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(400, 'Malformed JSON');
    throw error;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
