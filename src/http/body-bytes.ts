import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { CollectedBytes } from '../collected-bytes.ts';
import type { ByteBudget, Hold } from '../connector/client/index.ts';
import { AppError } from '../errors.ts';
import { countPiece, takeTurn } from '../pace.ts';
import { flowOf, holdReading } from './incoming-body.ts';

export const KB = 1024;
export const MB = 1024 * KB;
/** Size in bytes up to which bodies count as ordinary. They are neither counted nor processed in steps. */
export const LARGE_BYTES = 64 * 1024;

/** Maximum size in bytes of a body that is streamed and never in memory as a whole. */
export const MOST_STREAMED_BYTES = 100 * MB;

/** A body in chunks of one byte has hundreds of thousands of them, and ten thousand arrive at a time. Such bodies take turns. */
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
 * Reads and decompresses the body of a request. `maxBytes` limits it both as sent and decompressed.
 * @throws AppError PAYLOAD_TOO_LARGE; OVERLOADED if there is no memory for it; UNSUPPORTED_MEDIA_TYPE for its Content-Encoding;
 * REQUEST_INVALID if it is incomplete or its compression is invalid
 */
export async function readBody(request: IncomingMessage, maxBytes: number, room: BodyRoom): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Encoding of the body is not supported.');
  }
  const collected = await collect(request, maxBytes, room);
  // Joining the pieces of a large body takes milliseconds.
  if (collected.length > LARGE_BYTES) await takeTurn();
  if (request.socket.destroyed) throw brokenOff();
  const sent = collected.join();
  if (encoding === 'identity') return sent;
  const unpacked = await unpack(sent, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
    if (cause instanceof RangeError) throw tooLarge(maxBytes);
    throw new AppError('REQUEST_INVALID', 'The body cannot be decompressed by its Content-Encoding.', { cause });
  });
  // The decompressed body replaces the body as sent.
  if (!room.take(unpacked.length - sent.length)) throw noRoom();
  return unpacked;
}

/**
 * Sends `100 Continue` to a caller that waits for it before it sends the body (RFC 9110, 10.1.1). At this point, the request is authorized
 * and its length is accepted.
 */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (/(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '')) response.writeContinue();
}

/** Checks a body's `Content-Length` before any of the body arrives. @throws AppError PAYLOAD_TOO_LARGE */
export function assertLength({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): void {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  const isPacked = encoding !== undefined && encoding.toLowerCase() !== 'identity';
  if (!isPacked && Number(length) > maxBytes) throw tooLarge(maxBytes);
}

/** Reads a body that is too large to its end, without keeping it. A caller that still sends would lose a response before the end. */
function collect(request: IncomingMessage, maxBytes: number, room: BodyRoom): Promise<CollectedBytes> {
  const body = new CollectedBytes();
  let size = 0;
  let refusal: AppError | undefined;
  let pieces = 0;
  let isHeld = false;
  const flow = flowOf(request);

  async function waitForTurn(): Promise<void> {
    isHeld = true;
    const goOn = holdReading(request.socket);
    await takeTurn();
    goOn();
    isHeld = false;
  }

  function refuse(why: AppError): void {
    refusal = why;
    body.clear();
    room.give();
  }

  function keep(piece: Buffer): void {
    size += piece.length;
    if (size > maxBytes) refuse(tooLarge(maxBytes));
    else if (room.take(piece.length)) body.add(piece);
    else refuse(noRoom());
  }

  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(brokenOff());
    request.on('data', (piece: Buffer) => {
      if (refusal === undefined) keep(piece);
      if (size > LARGE_BYTES) countPiece(flow, piece.length);
      if (++pieces % PIECES_A_TURN === 0 && !isHeld) void waitForTurn();
    });
    request.once('end', () => (refusal === undefined ? resolve(body) : reject(refusal)));
    request.once('error', (cause) => {
      body.clear();
      reject(brokenOff(cause));
    });
  });
}

/** Returns a size for messages, such as `256 kB` or `8 MB`. */
export function sizeText(bytes: number): string {
  return bytes % MB === 0 ? `${bytes / MB} MB` : `${Math.round(bytes / KB)} kB`;
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${sizeText(maxBytes)}.`);
}

/** Others end within seconds. */
const RETRY_AFTER_SECONDS = 2;

export function noRoom(): AppError {
  return new AppError(
    'OVERLOADED',
    'The service has no memory left for this body at the moment. Try again later, or send smaller bodies.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

export function brokenOff(cause?: unknown): AppError {
  return new AppError('REQUEST_INVALID', 'The body ended too early.', { cause });
}

/** Memory limit for one body. */
export type BodyRoom = ReturnType<typeof openBodyRoom>;

/**
 * Counts a body until its request ends, because what it is parsed to needs about as much memory.
 * @param budget the memory of this process for the bodies of requests, shared by all accounts
 * @param account undefined stands for all unknown accounts
 */
export function openBodyRoom(budget: ByteBudget, account: number | undefined, response: ServerResponse) {
  let hold: Hold | undefined;
  let size = 0;
  let counted = 0;

  function open(): Hold {
    const opened = budget.open(account);
    if (response.destroyed) opened.close();
    else response.once('close', opened.close);
    return opened;
  }

  return {
    /**
     * Takes memory for more of the body.
     * @returns false if there is no room
     */
    take: (bytes: number): boolean => {
      size += bytes;
      if (size <= LARGE_BYTES) return true;
      hold ??= open();
      if (!hold.take(size - counted)) return false;
      counted = size;
      return true;
    },
    /** Returns all memory of the body. */
    give: () => hold?.close(),
  };
}
