import { type Behaviour, status } from './misbehaving-server.ts';

const LORIS_INTERVAL_MS = 50;
/** Node's own client and undici take 16 KB of headers. */
const HUGE_HEADER_BYTES = 256 * 1024;

/** One byte now and then: the connection is never idle, and the answer never whole. */
export const slowLoris: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const timer = setInterval(() => response.write('.'), LORIS_INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
};

/** The same before the headers are complete. */
export const slowHeaders: Behaviour = (response) => {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket?.write('.'), LORIS_INTERVAL_MS);
  socket?.once('close', () => clearInterval(timer));
};

export const hugeHeaders: Behaviour = (response) => {
  response.socket?.end(`HTTP/1.1 200 OK\r\nx-huge: ${'h'.repeat(HUGE_HEADER_BYTES)}\r\ncontent-length: 0\r\n\r\n`);
};

/** Answers, keeps the connection alive by its words, and closes it: the next request may go into the closing connection. */
export const closeKeptAlive: Behaviour = (response) => {
  response.writeHead(204, { connection: 'keep-alive', 'keep-alive': 'timeout=60' });
  response.end(() => setImmediate(() => response.socket?.destroy()));
};

/** `Retry-After` in the form and with the value given; RFC 9110, section 10.2.3. */
export function retryAfter(value: string, code = 503): Behaviour {
  return status(code, { 'retry-after': value });
}

export function delayed(ms: number, then: Behaviour = status(204)): Behaviour {
  return (response, request) => {
    const timer = setTimeout(() => then(response, request), ms);
    response.once('close', () => clearTimeout(timer));
  };
}
