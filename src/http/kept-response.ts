import { hash } from 'node:crypto';
import type { Response } from 'express';
import { COMPRESSORS, type Encoding } from './compression.ts';
import { chooseEncoding } from './response.ts';

/** A prepared response that is the same for everybody. */
export interface KeptResponse {
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the body in an encoding. It is compressed once, for the first request. */
  readonly as: (encoding: Encoding | 'identity') => Promise<KeptBody>;
}

interface KeptBody {
  readonly bytes: Buffer;
  /** Another one for each encoding, as the bytes are others (RFC 9110, 8.8.3). */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
};

/** Sends a prepared response. Express sends a 304 if the caller has it already. */
export async function sendKept(response: Response, kept: KeptResponse): Promise<void> {
  const encoding = chooseEncoding(response.req.headers['accept-encoding']) ?? 'identity';
  const { bytes, etag } = await kept.as(encoding);
  response.vary('Accept-Encoding').set({ ...kept.headers, ETag: etag });
  if (encoding !== 'identity') response.set('Content-Encoding', encoding);
  response.send(bytes);
}

/**
 * Prepares a response.
 * @param extension file name extension, with the dot
 */
export function keep(
  extension: string,
  content: string | Uint8Array,
  more: Readonly<Record<string, string>> = {},
): KeptResponse {
  const type = TYPES[extension] ?? 'text/plain';
  // With the headers: a browser that has the page keeps its old policy on a 304.
  const plain = Buffer.from(content);
  const tag = hash('sha256', Buffer.concat([Buffer.from(JSON.stringify([type, more])), plain]), 'base64url');
  const bodies = new Map<Encoding | 'identity', Promise<KeptBody>>();
  return {
    // Clients may keep it, but must revalidate it each time. So a new version is seen at once, and no page uses a script of another
    // version.
    headers: { 'Content-Type': type, 'Cache-Control': 'no-cache', ...more },
    as: (encoding) => {
      const body = bodies.get(encoding) ?? packBody(plain, encoding, tag);
      bodies.set(encoding, body);
      return body;
    },
  };
}

async function packBody(plain: Buffer, encoding: Encoding | 'identity', tag: string): Promise<KeptBody> {
  if (encoding === 'identity') return { bytes: plain, etag: `"${tag}"` };
  return { bytes: await COMPRESSORS[encoding].compress(plain), etag: `"${tag}-${encoding}"` };
}
