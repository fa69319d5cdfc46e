import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import type { Response } from 'express';

export type Encoding = 'br' | 'gzip';

/** Minimum size in bytes of a compressed response. Smaller ones fit into one packet anyway. */
export const LEAST_COMPRESSED = 1024;
/** Maximum size in bytes that is compressed in one step. */
export const MOST_COMPRESSED_AT_ONCE = 8 * 1024;

/** About as fast as gzip and a little smaller; the window is what a large response costs in memory (512 kB). */
const BROTLI: BrotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 19 },
};
const GZIP: ZlibOptions = { level: 5 };

interface Compressor {
  /** Compresses a small body at once. Passing it to a thread and back would take five times as long. */
  readonly compressNow: (bytes: Buffer) => Buffer;
  readonly compress: (bytes: Buffer) => Promise<Buffer>;
  readonly createStream: () => Transform;
}

const pack = {
  br: promisify<Buffer, BrotliOptions, Buffer>(brotliCompress),
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gzip),
};

/** The supported encodings. If a caller likes several equally, the first one is used. */
export const COMPRESSORS: Readonly<Record<Encoding, Compressor>> = {
  br: {
    compressNow: (bytes) => brotliCompressSync(bytes, BROTLI),
    compress: (bytes) => pack.br(bytes, BROTLI),
    createStream: () => createBrotliCompress(BROTLI),
  },
  gzip: {
    compressNow: (bytes) => gzipSync(bytes, GZIP),
    compress: (bytes) => pack.gzip(bytes, GZIP),
    createStream: () => createGzip(GZIP),
  },
};

/**
 * Returns the encoding for the body of a response; undefined if it must not be compressed.
 * `response.locals.isPackable` asserts that the body has no tokens or secrets, because the length of compressed data
 * reveals its content (BREACH).
 */
export function encodingOf(response: Response): Encoding | undefined {
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
