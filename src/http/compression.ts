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
