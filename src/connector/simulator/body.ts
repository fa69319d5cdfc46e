import type { IncomingMessage } from 'node:http';
import { XMLParser } from 'fast-xml-parser';
import { BAD_BODY, Fault, fault } from './fault.ts';

/** The body of a request. It is parsed when it is asked for. */
export interface Body {
  readonly bytes: Buffer;
  /** Without parameters, in lower case; empty when none was said. */
  readonly type: string;
  readonly text: () => string;
  /** @throws Fault 400 for what is no JSON */
  readonly json: () => unknown;
  /** @throws Fault 400 for anything but a JSON object */
  readonly object: () => Readonly<Record<string, unknown>>;
  readonly form: () => URLSearchParams;
  /** @throws Fault 400 for what is no multipart/form-data, or has too many parts */
  readonly multipart: () => Promise<FormData>;
  /** As fast-xml-parser has it, attributes without a prefix. @throws Fault 400 */
  readonly xml: () => unknown;
}

export interface RequestLimits {
  /** Default 10,000,000. */
  readonly bytes?: number;
  /** Of a multipart body. Default 100. */
  readonly parts?: number;
}

/** @throws Fault 413 for a body that is too large */
export async function readBody(request: IncomingMessage, limits: RequestLimits = {}): Promise<Body> {
  const { bytes: most = 10_000_000, parts = 100 } = limits;
  return createBody(await readBytes(request, most), request.headers['content-type'], parts);
}

/** By events: iterating over the request costs more than answering it. What is too large is read to its end, and not kept. */
function readBytes(request: IncomingMessage, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= most) chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > most) reject(fault(413, `The body is larger than ${most} bytes.`));
      else resolve(Buffer.concat(chunks));
    });
    request.on('error', reject);
  });
}

/** @param contentType of the request */
export function createBody(bytes: Buffer, contentType = '', parts = 100): Body {
  const text = () => bytes.toString('utf8');
  const json = () => attempt('JSON', () => JSON.parse(text()));
  return {
    bytes,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    text,
    json,
    object: () => asObject(json()),
    form: () => new URLSearchParams(text()),
    multipart: async () => limitParts(await readMultipart(bytes, contentType), parts),
    xml: () => attempt('XML', () => XML.parse(text(), true)),
  };
}

const XML = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', processEntities: true });

function attempt(what: string, parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    throw new Fault(400, BAD_BODY, `The body is no ${what}: ${error instanceof Error ? error.message : error}`);
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Fault(400, BAD_BODY, 'The body is no JSON object.');
}

async function readMultipart(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw new Fault(
      400,
      BAD_BODY,
      `The body is no multipart/form-data: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function limitParts(form: FormData, most: number): FormData {
  if ([...form].length > most) throw new Fault(400, BAD_BODY, `The body has more than ${most} parts.`);
  return form;
}
