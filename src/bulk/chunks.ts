import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { NewChunk } from './job.ts';

/** Bytes. None is larger, whatever rows are. */
const MOST_CHUNK_BYTES = 4 * 1024 * 1024;
/** Characters that are made bytes of at a time. */
const TEXT_LENGTH = 128 * 1024;

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 2 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** What was written of a file since it was taken last. */
export interface ChunkBuffer {
  readonly write: (text: string) => void;
  readonly isFull: () => boolean;
  /** All of it; the buffer is empty then. */
  readonly take: () => readonly Buffer[];
}

/** `fullBytes`: so much is gathered before it is stored; a single row may be more. */
export function createChunkBuffer(fullBytes: number): ChunkBuffer {
  let text = '';
  let parts: Buffer[] = [];
  let byteCount = 0;
  const textLength = Math.min(TEXT_LENGTH, fullBytes);

  function settle(): void {
    if (text === '') return;
    const part = Buffer.from(text);
    text = '';
    byteCount += part.length;
    parts.push(part);
  }

  return {
    write: (more) => {
      text += more;
      if (text.length >= textLength) settle();
    },
    isFull: () => byteCount >= fullBytes,
    take: () => {
      settle();
      const taken = parts;
      parts = [];
      byteCount = 0;
      return taken;
    },
  };
}

/** Cut where a chunk is full, which may be within a row or a character. */
export async function packChunks(parts: readonly Buffer[], startByte: number): Promise<readonly NewChunk[]> {
  const chunks: NewChunk[] = [];
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  for (let at = 0; at < bytes.length; at += MOST_CHUNK_BYTES) {
    const part = bytes.subarray(at, at + MOST_CHUNK_BYTES);
    chunks.push({ startByte: startByte + at, byteCount: part.length, data: await compress(part, LEVEL) });
  }
  return chunks;
}

/** @throws Error for what is not a chunk */
export function unpackChunk(data: Buffer): Promise<Buffer> {
  return decompress(data, { maxOutputLength: MOST_CHUNK_BYTES });
}
