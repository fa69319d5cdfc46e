import { type Behaviour, status } from './misbehaving-server.ts';

const LORIS_INTERVAL_MS = 50;
/** Longer than the 16 KB of headers that Node.js and undici accept. */
const HUGE_HEADER_BYTES = 256 * 1024;

/** Sends one byte at intervals: the connection is never idle, and the response never complete. */
export const slowLoris: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => response.write('.'), LORIS_INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
};

/** Sends a header one byte at a time and never completes it. */
export const slowHeaders: Behaviour = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket?.write('.'), LORIS_INTERVAL_MS);
  socket?.once('close', () => clearInterval(timer));
};

export const hugeHeaders: Behaviour = (response) => {
  response.socket?.end(`HTTP/1.1 200 OK\r\nx-huge: ${'h'.repeat(HUGE_HEADER_BYTES)}\r\ncontent-length: 0\r\n\r\n`);
};

/** Responds that the connection stays open, and then closes it. The next request may be sent on the closing connection. */
export const closeKeptAlive: Behaviour = (response) => {
  response.writeHead(204, { connection: 'keep-alive', 'keep-alive': 'timeout=60' });
  response.end(() => setImmediate(() => response.socket?.destroy()));
};

/** Responds with `Retry-After` in the given form and value (RFC 9110, section 10.2.3). */
export function retryAfter(value: string, code = 503): Behaviour {
  return status(code, { 'retry-after': value });
}

export function delayed(ms: number, then: Behaviour = status(204)): Behaviour {
  return (response, request) => {
    const timer = setTimeout(() => then(response, request), ms);
    response.once('close', () => clearTimeout(timer));
  };
}
