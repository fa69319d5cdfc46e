import { promisify } from 'node:util';
import { brotliDecompress, brotliDecompressSync, gunzip, gunzipSync } from 'node:zlib';
import { EgressError } from './error.ts';
import { type ExchangeLimits, type RawResponse, tooLarge } from './exchange.ts';

/**
 * Asked for as JSON shrinks to a fifth on the way, and unpacking costs less than parsing it: 26 µs of CPU for 800 bytes,
 * 0.5 ms for 336 kB. `deflate` is left out: servers disagree on what it means, and none has it without gzip.
 */
export const ACCEPTED_ENCODINGS = 'gzip, br';

interface Cap {
  readonly maxOutputLength: number;
}

interface Decoder {
  readonly decode: (body: Buffer, cap: Cap) => Promise<Buffer>;
  readonly decodeSync: (body: Buffer, cap: Cap) => Buffer;
}

const GZIP: Decoder = { decode: promisify(gunzip), decodeSync: gunzipSync };
const BROTLI: Decoder = { decode: promisify(brotliDecompress), decodeSync: brotliDecompressSync };
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['br', BROTLI],
]);

/** Undoes the content encoding; `maxBytes` holds for the result too, so a small answer cannot grow without end. */
export async function decodeResponse(response: RawResponse, limits: ExchangeLimits): Promise<RawResponse> {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === 'identity' || encoding === '' || response.body.length === 0)
    return response;
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) {
    throw new EgressError('protocol', `${limits.hostname} sent an encoding that was not asked for.`);
  }
  return { ...response, body: await decodeBody(decoder, response.body, limits) };
}

async function decodeBody(decoder: Decoder, body: Buffer, limits: ExchangeLimits): Promise<Buffer> {
  try {
    const cap = { maxOutputLength: limits.maxBytes };
    return decodeSmall(decoder, body, limits.maxBytes) ?? (await decoder.decode(body, cap));
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(limits);
    throw new EgressError('protocol', `${limits.hostname} sent a body that cannot be decompressed.`, error);
  }
}

// The way over the thread pool costs 270 µs of CPU a call. Within these bounds the event loop is held for 3 ms at most.
const SMALL_PACKED_BYTES = 64 * 1024;
const SMALL_BYTES = 1024 * 1024;

/** @returns undefined when the body is not small, packed or unpacked. */
function decodeSmall(decoder: Decoder, body: Buffer, maxBytes: number): Buffer | undefined {
  if (body.length > SMALL_PACKED_BYTES || maxBytes < SMALL_BYTES) return undefined;
  try {
    return decoder.decodeSync(body, { maxOutputLength: SMALL_BYTES });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
