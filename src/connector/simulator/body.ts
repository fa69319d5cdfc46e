import type { IncomingMessage } from 'node:http';
import { XMLParser } from 'fast-xml-parser';
import { isWithinShape, type JsonShape } from '../../numbers/json-shape.ts';
import { hasMorePairs, MOST_PAIRS } from '../../pairs.ts';
import { BAD_BODY, Fault, fault } from './fault.ts';

/** The body of a request, parsed on demand. */
export interface Body {
  readonly bytes: Buffer;
  /** The content type without parameters, in lower case. Empty when the request has none. */
  readonly type: string;
  readonly text: () => string;
  /**
   * Parses JSON.
   * @throws Fault 400 for a body that is no JSON; 413 for more than 1,000,000 members
   */
  readonly json: () => unknown;
  /**
   * Parses a JSON object.
   * @throws Fault as `json`; 400 for anything but an object
   */
  readonly object: () => Readonly<Record<string, unknown>>;
  /**
   * Parses an encoded form.
   * @throws Fault 413 for more than 1,000 fields
   */
  readonly form: () => URLSearchParams;
  /**
   * Parses a multipart form.
   * @throws Fault 400 for a body that is no multipart/form-data, or has too many parts
   */
  readonly multipart: () => Promise<FormData>;
  /**
   * Parses XML as fast-xml-parser does, with attributes without a prefix.
   * @throws Fault 400; 413 for more than 100,000 tags
   */
  readonly xml: () => unknown;
}

/** Limits of requests. */
export interface RequestLimits {
  /** Maximum size of a body in bytes. Default 10,000,000. */
  readonly bytes?: number;
  /** Maximum number of parts of a multipart body. Default 100. */
  readonly parts?: number;
}

/**
 * Reads the body of a request.
 * @throws Fault 413 for a body that is too large
 */
export async function readBody(request: IncomingMessage, limits: RequestLimits = {}): Promise<Body> {
  const { bytes: most = 10_000_000, parts = 100 } = limits;
  return createBody(await readBytes(request, most), request.headers['content-type'], parts);
}

/**
 * Reads by events, because iterating over the request costs more than responding to it. A body that is too large is read to its end, but
 * not kept.
 */
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

/**
 * Creates a body from bytes, e.g. in a test.
 * @param contentType of the request
 * @param parts maximum number of parts of a multipart body
 */
export function createBody(bytes: Buffer, contentType = '', parts = 100): Body {
  const text = () => bytes.toString('utf8');
  const json = () => {
    if (!isWithinShape(bytes, MOST_JSON)) throw tooMany(MOST_JSON.members, 'members');
    return attempt('JSON', () => JSON.parse(text()));
  };
  return {
    bytes,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '',
    text,
    json,
    object: () => asObject(json()),
    form: () => {
      if (hasMorePairs(text())) throw tooMany(MOST_PAIRS, 'fields');
      return new URLSearchParams(text());
    },
    multipart: async () => {
      assertFewParts(bytes, contentType, parts);
      return limitParts(await readMultipart(bytes, contentType), parts);
    },
    xml: () => {
      if (countOf(bytes, '<', MOST_TAGS) > MOST_TAGS) throw tooMany(MOST_TAGS, 'tags');
      return attempt('XML', () => XML.parse(text(), true));
    },
  };
}

// The limits are checked before anything is parsed.
const MOST_JSON: JsonShape = { depth: Number.POSITIVE_INFINITY, members: 1_000_000, ownMembers: 1_000_000 };
const MOST_TAGS = 100_000;

function tooMany(most: number, what: string): Fault {
  return fault(413, `The body has more than ${most} ${what}.`);
}

/** Returns how often a text occurs, up to one more than `most`. */
function countOf(bytes: Buffer, text: string, most: number): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at >= 0 && count <= most; at = bytes.indexOf(text, at + text.length)) count++;
  return count;
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
  if ([...form].length > most) throw tooManyParts(most);
  return form;
}

/**
 * Counts the parts before any is read. The boundary precedes each part and follows the last one, on a line of its own; the form may begin
 * with it.
 */
function assertFewParts(bytes: Buffer, contentType: string, most: number): void {
  const [, quoted, plain = quoted] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^";\s]+))/i.exec(contentType) ?? [];
  if (plain === undefined || plain === '') return;
  if (countOf(bytes, `\r\n--${plain}`, most + 1) > most + 1) throw tooManyParts(most);
}

function tooManyParts(most: number): Fault {
  return new Fault(400, BAD_BODY, `The body has more than ${most} parts.`);
}
