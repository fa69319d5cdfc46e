import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { CollectedBytes } from '../collected-bytes.ts';
import { AppError } from '../errors.ts';
import { takeTurn } from '../pace.ts';
import { sizeText } from './body-limits.ts';
import { holdReading } from './held-reading.ts';

/** A body in chunks of one byte is hundreds of thousands of them: then the bodies that come so take turns. */
const PIECES_A_TURN = 512;

type Unpack = (packed: Buffer, cap: { readonly maxOutputLength: number }) => Promise<Buffer>;

const UNPACK: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['identity', async (packed) => packed],
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/**
 * The body of a request, unpacked; `maxBytes` holds for it as it was sent and as it is unpacked.
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for its Content-Encoding, REQUEST_INVALID when it breaks off or is not packed as it says
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body has a Content-Encoding that is not supported.');
  }
  const sent = await collect(request, maxBytes);
  if (encoding === 'identity') return sent;
  try {
    return await unpack(sent, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(maxBytes);
    throw new AppError('REQUEST_INVALID', 'The body cannot be unpacked as its Content-Encoding says.', { cause });
  }
}

/** As soon as its length tells, before any of it has come. @throws AppError PAYLOAD_TOO_LARGE */
export function assertLength({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): void {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  const isPacked = encoding !== undefined && encoding.toLowerCase() !== 'identity';
  if (!isPacked && Number(length) > maxBytes) throw tooLarge(maxBytes);
}

/** What is too much is read and not kept: an answer before the end of the body would be lost by who still sends. */
function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const body = new CollectedBytes();
  let size = 0;
  let pieces = 0;
  let isHeld = false;

  async function waitForTurn(): Promise<void> {
    isHeld = true;
    const goOn = holdReading(request.socket);
    await takeTurn();
    goOn();
    isHeld = false;
  }

  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(brokenOff());
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= maxBytes) body.add(piece);
      else body.clear();
      if (++pieces % PIECES_A_TURN === 0 && !isHeld) void waitForTurn();
    });
    request.once('end', () => (size <= maxBytes ? resolve(body.join()) : reject(tooLarge(maxBytes))));
    request.once('error', (cause) => {
      body.clear();
      reject(brokenOff(cause));
    });
  });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${sizeText(maxBytes)}.`);
}

function brokenOff(cause?: unknown): AppError {
  return new AppError('REQUEST_INVALID', 'The body breaks off.', { cause });
}
