import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { NewChunk } from './job.ts';

/** Bytes. None is larger, whatever rows are. */
const MOST_CHUNK_BYTES = 4 * 1024 * 1024;
/** Characters that are made bytes of at a time. */
const TEXT_LENGTH = 128 * 1024;
/** UTF-8 of a UTF-16 unit. */
const MOST_BYTES_OF_CHARACTER = 3;

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 2 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const NOTHING = Buffer.alloc(0);
/** Allocates memory that is not shared with other buffers. */
const ownMemory = Buffer.allocUnsafeSlow;

/**
 * Creates a buffer that collects `fullBytes` bytes before they are stored; a single row can be larger. The buffer reuses its memory,
 * because V8 collects garbage in the whole heap after so much allocation outside of it.
 */
export function createChunkBuffer(fullBytes: number) {
  const textLength = Math.min(TEXT_LENGTH, fullBytes);
  const capacity = fullBytes + textLength * MOST_BYTES_OF_CHARACTER;
  let spare: Buffer | undefined;
  let bytes: Buffer = NOTHING;
  let byteCount = 0;
  let text = '';

  function makeRoom(more: number): void {
    const wanted = byteCount + more;
    if (wanted <= bytes.length) return;
    const larger = wanted <= capacity ? (spare ?? ownMemory(capacity)) : ownMemory(wanted);
    if (larger === spare) spare = undefined;
    bytes.copy(larger, 0, 0, byteCount);
    bytes = larger;
  }

  function settle(): void {
    if (text === '') return;
    makeRoom(Buffer.byteLength(text));
    byteCount += bytes.write(text, byteCount);
    text = '';
  }

  return {
    write: (more: string) => {
      text += more;
      if (text.length >= textLength) settle();
    },
    isFull: () => byteCount >= fullBytes,
    /** Returns the content of the buffer and empties it. */
    take: () => {
      settle();
      const taken = bytes.subarray(0, byteCount);
      bytes = NOTHING;
      byteCount = 0;
      return taken;
    },
    /** Returns a buffer that is no longer needed. It is overwritten. */
    give: ({ buffer }: Buffer) => {
      if (buffer.byteLength === capacity) spare = Buffer.from(buffer);
    },
  };
}

/** Cuts bytes into chunks of the maximum size and compresses them. A cut can be within a row or a character. */
export async function packChunks(bytes: Buffer, startByte: number): Promise<readonly NewChunk[]> {
  const chunks: NewChunk[] = [];
  for (let at = 0; at < bytes.length; at += MOST_CHUNK_BYTES) {
    const part = bytes.subarray(at, at + MOST_CHUNK_BYTES);
    chunks.push({ startByte: startByte + at, byteCount: part.length, data: await compress(part, LEVEL) });
  }
  return chunks;
}

/**
 * Decompresses a chunk.
 * @throws Error for invalid data
 */
export function unpackChunk(data: Buffer): Promise<Buffer> {
  return decompress(data, { maxOutputLength: MOST_CHUNK_BYTES });
}
