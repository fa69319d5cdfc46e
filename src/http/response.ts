import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Response } from 'express';
import { AppError, type CallerBudget } from '../errors.ts';
import { isLarge, PIECE_CHARACTERS, printPieces } from '../numbers/print-pieces.ts';
import { createPacer } from '../pace.ts';
import { chooseResponse } from '../resources/media.ts';
import { packedTag } from './byte-ranges.ts';
import { COMPRESSORS, type Encoding, LEAST_COMPRESSED, MOST_COMPRESSED_AT_ONCE } from './compression.ts';

/** Headers of a response. Undefined values are left out. */
export type ResponseHeaders = Readonly<Record<string, string | number | undefined>>;

/** A response with bytes instead of JSON. */
export interface FileResponse {
  readonly file: Buffer;
  readonly headers: ResponseHeaders & { readonly 'Content-Type': string };
}

/** A response that is streamed. The status says if it has only a part of the file, or nothing. */
export interface StreamResponse {
  readonly status: 200 | 206 | 304;
  /** Returns the pieces of the body. It is not called where no body is sent. An error in it breaks the connection. */
  readonly pieces: () => AsyncIterable<Buffer | string>;
  readonly headers: ResponseHeaders & { readonly 'Content-Type'?: string };
}

/** Response of any operation's handler. The status is 200. */
export type HandlerResponse = FileResponse | StreamResponse | JsonResponse;

interface JsonResponse {
  readonly body: unknown;
  /** Memory that the body takes, about, where that is known: whether it is large needs no look at it then. */
  readonly bytes?: number | undefined;
  readonly headers?: ResponseHeaders;
}

export function sendResponse(response: Response, result: HandlerResponse): void {
  // The validator checks a body by its content type and, without one, by the caller's Accept header.
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const name in result.headers) {
    const value = result.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  if ('pieces' in result) sendStream(response, result);
  else if ('file' in result) response.send(result.file);
  else {
    response.locals.bodyBytes = result.bytes;
    response.json(result.body);
  }
}

/**
 * Replaces `response.json` for responses of any size. A large one is printed and sent piece by piece, as fast as the caller reads. It is
 * compressed where the caller accepts that.
 */
export function sendJson(this: Response, body: unknown): Response {
  const encoding = encodingOf(this);
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  const { bodyBytes }: { readonly bodyBytes?: number } = this.locals;
  const isInPieces = bodyBytes === undefined ? isLarge(body) : bodyBytes > PIECE_CHARACTERS;
  if (isInPieces) sendPieces(this, printPieces(body), encoding).catch((error: unknown) => this.req.next?.(error));
  else {
    const text = JSON.stringify(body);
    const bytes = Buffer.byteLength(text);
    if (encoding !== undefined && bytes >= LEAST_COMPRESSED) {
      sendPacked(this, Buffer.from(text), encoding).catch((error: unknown) => this.req.next?.(error));
    } else {
      // Express also computes headers for caches, which are useless for responses that are never cached.
      this.setHeader('Content-Length', bytes);
      // For ASCII both encodings are equal, and Node reserves three bytes per character of UTF-8.
      this.end(text, bytes === text.length ? 'latin1' : 'utf8');
    }
  }
  return this;
}

async function sendPacked(response: Response, bytes: Buffer, encoding: Encoding): Promise<void> {
  const { compressNow, compress } = COMPRESSORS[encoding];
  const packed = bytes.length > MOST_COMPRESSED_AT_ONCE ? await compress(bytes) : compressNow(bytes);
  response.setHeader('Content-Encoding', encoding);
  response.setHeader('Content-Length', packed.length);
  response.end(packed);
}

/**
 * Sends a stream after its headers are set. A whole file is compressed where the caller accepts that. A range has bytes of the uncompressed
 * file.
 */
function sendStream(response: Response, { status, pieces }: StreamResponse): void {
  response.status(status);
  const encoding = status === 200 ? encodingOf(response) : undefined;
  if (encoding !== undefined) {
    response.removeHeader('Content-Length');
    response.setHeader('Accept-Ranges', 'none');
    const tag = response.getHeader('ETag');
    if (typeof tag === 'string') response.setHeader('ETag', packedTag(tag, encoding));
  }
  if (status === 304 || response.locals.isHead === true) {
    if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
    if (status === 304) response.removeHeader('Content-Type');
    response.end();
    return;
  }
  sendPieces(response, pieces(), encoding).catch((error: unknown) => response.req.next?.(error));
}

/** A caller that reads nothing for this long receives no more, because its response is held in memory. */
const STALL_MS = 60_000;

/** Sends pieces as fast as the caller reads them. An error cannot follow compressed data, so the connection is broken instead. */
async function sendPieces(
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

/**
 * Returns the encoding for the body of a response; undefined if it must not be compressed.
 * `response.locals.isPackable` asserts that the body has no tokens or secrets, because the length of compressed data
 * reveals its content (BREACH).
 */
function encodingOf(response: Response): Encoding | undefined {
  if (response.locals.isPackable !== true) return undefined;
  if (response.hasHeader('Vary')) response.vary('Accept-Encoding');
  else response.setHeader('Vary', 'Accept-Encoding');
  return chooseEncoding(response.req.headers['accept-encoding']);
}

/** Returns the encoding that an `Accept-Encoding` header prefers (RFC 9110, 12.5.3). */
export function chooseEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined || header === 'identity') return undefined;
  const qualities = parseAcceptEncoding(header);
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get('*') ?? 0;
  const names = Object.keys(COMPRESSORS) as Encoding[];
  const [best] = names.filter((name) => qualityOf(name) > 0).sort((a, b) => qualityOf(b) - qualityOf(a));
  return best !== undefined && qualityOf(best) >= (qualities.get('identity') ?? 0) ? best : undefined;
}

function parseAcceptEncoding(header: string): ReadonlyMap<string, number> {
  const entries = header.split(',').flatMap((entry): [string, number][] => {
    const [, name, quality = '1'] = /^\s*([\w*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/i.exec(entry) ?? [];
    return name === undefined ? [] : [[name.toLowerCase(), Number(quality)]];
  });
  return new Map(entries);
}

/** Returns the headers of a list (decisions D3): the counts, and the next page. */
export function listHeaders(
  count: number,
  next: { readonly url: string; readonly token: string | undefined },
): ResponseHeaders {
  return {
    'Elements-Returned-Count': count,
    ...(next.token !== undefined && {
      'Elements-Next-Page-Token': next.token,
      Link: `<${nextUrl(next.url, next.token)}>; rel="next"`,
    }),
  };
}

/** Returns the URL of the same request with the token in place of its page. */
function nextUrl(given: string, token: string): string {
  // Sent as they are by lax clients; in a Link header they would end the address.
  const url = /[<>"#]/.test(given) ? given.replace(/[<>"#]/g, encodeURIComponent) : given;
  // Most requests have no page yet, and parsing a long URL costs more than the rest of the headers.
  if (!/[?&](?:page|nextPage)=/.test(url)) return `${url}${url.includes('?') ? '&' : '?'}nextPage=${token}`;
  const next = new URL(url);
  next.searchParams.delete('page');
  next.searchParams.set('nextPage', token);
  return next.href;
}

/** Sets the headers of the rate limit (draft-ietf-httpapi-ratelimit-headers-06). */
export function setBudget(response: Response, { limit, remaining, resetSeconds }: CallerBudget): void {
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', resetSeconds);
}

/**
 * Asserts that the caller accepts JSON.
 * @throws AppError NOT_ACCEPTABLE
 */
export function assertAcceptsJson(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*' || chooseResponse(accept, []).kind === 'record') return;
  throw new AppError('NOT_ACCEPTABLE', 'This path returns JSON. Send Accept: application/json.');
}
