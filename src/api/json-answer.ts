import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { createPacer } from '../pace.ts';
import { COMPRESSORS, type Encoding, encodingOf, LEAST_COMPRESSED, MOST_COMPRESSED_AT_ONCE } from './compression.ts';
import { isLarge, printPieces } from './json-printing.ts';

/** A caller that reads nothing for so long gets no more: what it was answered is kept for it in memory. */
const STALL_MS = 60_000;

/**
 * `response.json` for answers of any size: a large one is printed and sent piece by piece, as fast as the caller takes it. Packed where
 * the caller takes that and it may be (compression.ts).
 */
export function sendJson(this: Response, body: unknown): Response {
  const encoding = encodingOf(this);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (isLarge(body)) sendPieces(this, body, encoding).catch((error: unknown) => this.req.next?.(error));
  else {
    const text = JSON.stringify(body);
    if (encoding === undefined || Buffer.byteLength(text) < LEAST_COMPRESSED) sendBytes(this, text);
    else sendPacked(this, Buffer.from(text), encoding).catch((error: unknown) => this.req.next?.(error));
  }
  return this;
}

/** What Express does besides is of no use for answers that no cache keeps. */
function sendBytes(response: Response, body: string | Buffer): void {
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

async function sendPacked(response: Response, bytes: Buffer, encoding: Encoding): Promise<void> {
  const { compressNow, compress } = COMPRESSORS[encoding];
  const packed = bytes.length > MOST_COMPRESSED_AT_ONCE ? await compress(bytes) : compressNow(bytes);
  response.setHeader('Content-Encoding', encoding);
  sendBytes(response, packed);
}

async function sendPieces(response: Response, body: unknown, encoding: Encoding | undefined): Promise<void> {
  // Gone before its answer was there: no event would tell so any more.
  if (response.destroyed) return;
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  response.setTimeout(STALL_MS);
  const pacer = createPacer(ended.signal);
  const sink = openSink(response, encoding);
  try {
    for (const piece of printPieces(body)) {
      if (!sink.write(piece)) await once(sink, 'drain', { signal: ended.signal });
      if (pacer.isDue()) await pacer.pause();
    }
  } catch (error) {
    // The caller hung up: there is nobody left to tell.
    if (ended.signal.aborted) return;
    // What is packed already would come behind the error.
    if (sink !== response) response.destroy();
    throw error;
  }
  sink.end();
}

/** Where pieces are written. What goes wrong in it ends the answer, and with it the writing. */
function openSink(response: Response, encoding: Encoding | undefined): Writable {
  if (encoding === undefined) return response;
  response.setHeader('Content-Encoding', encoding);
  const packer = COMPRESSORS[encoding].createStream();
  packer.once('error', () => response.destroy());
  response.once('close', () => packer.destroy());
  packer.pipe(response);
  return packer;
}
