import { hash } from 'node:crypto';
import type { Response } from 'express';
import { COMPRESSORS, chooseEncoding, type Encoding } from './compression.ts';

/** An answer that is the same for everybody, ready to be sent. */
export interface KeptAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** Packed once, when it is first asked for. */
  readonly as: (encoding: Encoding | 'identity') => Promise<KeptBody>;
}

interface KeptBody {
  readonly bytes: Buffer;
  /** Another one for each encoding, as the bytes are others (RFC 9110, 8.8.3). */
  readonly etag: string;
}

/** @param type the media type with its charset */
export function createKept(type: string, text: string, headers: Readonly<Record<string, string>> = {}): KeptAnswer {
  // With the headers: a browser that has the page keeps its old policy on a 304.
  const tag = hash('sha256', JSON.stringify([type, headers, text]), 'base64url');
  const plain = Buffer.from(text);
  const bodies = new Map<Encoding | 'identity', Promise<KeptBody>>();
  return {
    // To be kept by whoever asks, and asked for again each time: a new version is seen at once.
    headers: { 'Content-Type': type, 'Cache-Control': 'no-cache', ...headers },
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

/** Express answers 304 itself where the caller has it already. */
export async function sendKept(response: Response, kept: KeptAnswer): Promise<void> {
  const encoding = chooseEncoding(response.req.headers['accept-encoding']) ?? 'identity';
  const { bytes, etag } = await kept.as(encoding);
  response.vary('Accept-Encoding').set({ ...kept.headers, ETag: etag });
  if (encoding !== 'identity') response.set('Content-Encoding', encoding);
  response.send(bytes);
}
