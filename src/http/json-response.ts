import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { isLarge, PIECE_CHARACTERS, printPieces } from '../numbers/print-pieces.ts';
import { createPacer } from '../pace.ts';
import { COMPRESSORS, type Encoding, encodingOf, LEAST_COMPRESSED, MOST_COMPRESSED_AT_ONCE } from './compression.ts';

/** A caller that reads nothing for this long receives no more, because its response is held in memory. */
const STALL_MS = 60_000;

/**
 * Replaces `response.json` for responses of any size. A large one is printed and sent piece by piece, as fast as the caller reads. It is
 * compressed where the caller accepts that (compression.ts).
 */
export function sendJson(this: Response, body: unknown): Response {
  const encoding = encodingOf(this);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  const { bodyBytes }: { readonly bodyBytes?: number } = this.locals;
  const isInPieces = bodyBytes === undefined ? isLarge(body) : bodyBytes > PIECE_CHARACTERS;
  if (isInPieces) sendPieces(this, printPieces(body), encoding).catch((error: unknown) => this.req.next?.(error));
  else {
    const text = JSON.stringify(body);
    if (encoding === undefined || Buffer.byteLength(text) < LEAST_COMPRESSED) sendText(this, text);
    else sendPacked(this, Buffer.from(text), encoding).catch((error: unknown) => this.req.next?.(error));
  }
  return this;
}

/** Express also computes headers for caches, which are useless for responses that are never cached. */
function sendText(response: Response, text: string): void {
  const bytes = Buffer.byteLength(text);
  response.setHeader('Content-Length', bytes);
  // For ASCII both encodings are equal, and Node reserves three bytes per character of UTF-8.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

async function sendPacked(response: Response, bytes: Buffer, encoding: Encoding): Promise<void> {
  const { compressNow, compress } = COMPRESSORS[encoding];
  const packed = bytes.length > MOST_COMPRESSED_AT_ONCE ? await compress(bytes) : compressNow(bytes);
  response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', packed.length);
  response.end(packed);
}

/** Sends pieces as fast as the caller reads them. An error cannot follow compressed data, so the connection is broken instead. */
export async function sendPieces(
  response: Response,
  pieces: AsyncIterable<Buffer | string> | Iterable<Buffer | string>,
  encoding: Encoding | undefined,
): Promise<void> {
  // If the connection ended before the response began, no event reports it any more.
  if (response.destroyed) return;
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  response.setTimeout(STALL_MS);
  const pacer = createPacer(ended.signal);
  const sink = openSink(response, encoding);
  try {
    for await (const piece of pieces) {
      if (!sink.write(piece)) await once(sink, 'drain', { signal: ended.signal });
      if (pacer.isDue()) await pacer.pause();
    }
  } catch (error) {
    // The caller closed the connection, so there is nobody to report to.
    if (ended.signal.aborted) return;
    // Compressed data that is still held would follow the error.
    if (sink !== response) response.destroy();
    throw error;
  }
  sink.end();
}

/** Where pieces are written. What goes wrong in it ends the response, and with it the writing. */
function openSink(response: Response, encoding: Encoding | undefined): Writable {
  if (encoding === undefined) return response;
  response.setHeader('Content-Encoding', encoding);
  const packer = COMPRESSORS[encoding].createStream();
  packer.once('error', () => response.destroy());
  response.once('close', () => packer.destroy());
  packer.pipe(response);
  return packer;
}
