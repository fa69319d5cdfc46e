import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Response } from 'express';
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

/** Characters, roughly, that are printed at a time: less than a millisecond. */
const PIECE_CHARACTERS = 64 * 1024;

type JsonMembers = unknown[] | Record<string, unknown>;

/** Returns whether a value prints to more than one piece. It stops counting as soon as the result is certain. */
export function isLarge(value: unknown, pieceCharacters = PIECE_CHARACTERS): boolean {
  return charactersLeft(value, pieceCharacters, new Set()) < 0;
}

/**
 * Returns how much of `room` is left after a value is printed. Negative when it does not fit; then the value is added to `large`. Without
 * that, an object deep inside others would be measured once for each of them.
 */
function charactersLeft(value: unknown, room: number, large: Set<unknown>): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (!isMembers(value)) return room - 5;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++)
      left = charactersLeft(value[index], left - 1, large);
  } else {
    for (const name in value) {
      if (left < 0) break;
      left = charactersLeft(value[name], left - name.length - 4, large);
    }
  }
  if (left < 0) large.add(value);
  return left;
}

/** Prints JSON as `JSON.stringify` does, in pieces; each is printed when it is requested. */
export function* printPieces(value: unknown, pieceCharacters = PIECE_CHARACTERS): Generator<string, void> {
  let piece = '';
  for (const token of printTokens(value, { pieceCharacters, large: new Set() })) {
    piece += token;
    if (piece.length < pieceCharacters) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

interface Printing {
  readonly pieceCharacters: number;
  /** Known to print to more than a piece. */
  readonly large: Set<unknown>;
}

function* printTokens(value: unknown, printing: Printing): Generator<string, void> {
  if (isAtOnce(value, printing)) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      const printed = isPrintable(item) ? item : null;
      if (isAtOnce(printed, printing)) yield separator + JSON.stringify(printed);
      else {
        yield separator;
        yield* printTokens(printed, printing);
      }
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else {
    const members: Readonly<Record<string, unknown>> = Object(value);
    let separator = '{';
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (!isPrintable(member)) continue;
      const begin = `${separator}${JSON.stringify(name)}:`;
      if (isAtOnce(member, printing)) yield begin + JSON.stringify(member);
      else {
        yield begin;
        yield* printTokens(member, printing);
      }
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** Whether a value is no more than a piece. */
function isAtOnce(value: unknown, { pieceCharacters, large }: Printing): boolean {
  return !isMembers(value) || (!large.has(value) && charactersLeft(value, pieceCharacters, large) >= 0);
}

/** A value with its own form of printing, such as a date, is printed at once. */
function isMembers(value: unknown): value is JsonMembers {
  if (typeof value !== 'object' || value === null) return false;
  return !('toJSON' in value) || typeof value.toJSON !== 'function';
}

function isPrintable(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
