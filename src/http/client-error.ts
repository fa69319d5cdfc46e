import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { ERROR_STATUS, type ErrorCode, type ErrorDetail } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { peerOf } from './remote-address.ts';

/** The body of every error (decisions D4). */
export interface Problem {
  readonly requestId: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly providerMessage?: string;
}

interface ClientRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

const MALFORMED: ClientRefusal = { code: 'REQUEST_INVALID', message: 'The request is not well-formed HTTP.' };

/** The errors of Node's parser and of its time limits before there is a request, by their `code`. */
const REFUSALS: Readonly<Record<string, ClientRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'HEADERS_TOO_LARGE',
    message: 'The request line and the headers are larger than 64 KB together.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'PAYLOAD_TOO_LARGE',
    message: 'The chunk extensions of the body are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'REQUEST_TIMEOUT',
    message: 'The request did not arrive completely in time.',
  },
};

const LINGER_MS = 500;

/** Creates the handler for the `clientError` of an HTTP server. It responds to invalid HTTP in the form of all other errors. */
export function createClientErrorHandler({ log, clock }: Pick<Platform, 'log' | 'clock'>) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasResponseBegun(socket)) {
      socket.destroy();
      return;
    }
    const refusal = REFUSALS[error.code ?? ''] ?? MALFORMED;
    const requestId = randomUUID();
    log.info(
      { requestId, address: peerOf(Object(socket)), reason: error.code, status: ERROR_STATUS[refusal.code] },
      'rejected data that is not an HTTP request',
    );
    socket.end(responseText(refusal, requestId));
    linger(socket, clock);
  };
}

/**
 * The other end may never close, and a descriptor would be lost for ever. But closing with bytes unread resets the
 * connection, and the response may be lost on the way: what still comes is thrown away for a moment.
 */
function linger(socket: Duplex, clock: Clock): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  const endWait = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', endWait);
}

/** A second response into the middle of the first would be worse than none. Node keeps the one under way here. */
function hasResponseBegun(socket: Duplex): boolean {
  return Object(Object(socket)._httpMessage)._headerSent === true;
}

function responseText({ code, message }: ClientRefusal, requestId: string): string {
  const status = ERROR_STATUS[code];
  const problem: Problem = { requestId, code, message };
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Elements-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
