import type { ServerResponse } from 'node:http';
import {
  type Behaviour,
  endless,
  garbage,
  hang,
  type MisbehavingServer,
  type MisbehavingServerOptions,
  type ReceivedRequest,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  stallInBody,
  startMisbehavingServer,
  status,
} from './misbehaving-server.ts';

/** More than a client has any use for in the answer to a webhook. */
const ENDLESS_BYTES = 1024 * 1024 * 1024;
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
  response.end(() => closeSoon(response));
};

function closeSoon({ socket }: ServerResponse): void {
  setImmediate(() => socket?.destroy());
}

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

/** Each is a way to fail; none counts as delivered. */
export const FAILURES = {
  'slow-loris in the body': slowLoris,
  'slow-loris in the headers': slowHeaders,
  'a reset before the answer': resetBeforeAnswer,
  'a reset in the body': resetInBody,
  'a body that stalls': stallInBody,
  'an endless body': endless(ENDLESS_BYTES, { 'content-type': 'text/plain' }),
  'a redirect': redirect('http://127.0.0.1:1/elsewhere', 307),
  'huge headers': hugeHeaders,
  'something that is not HTTP': garbage,
  'no answer': hang,
  'status 400': status(400, {}, 'bad request'),
  'status 410': status(410, {}, 'gone'),
  'status 500': status(500, {}, 'broken'),
  'Retry-After in seconds': retryAfter('2'),
  'Retry-After as a date': retryAfter('Fri, 31 Dec 9999 23:59:59 GMT'),
  'an absurd Retry-After': retryAfter('99999999999999999999'),
  'a negative Retry-After': retryAfter('-5'),
  'a Retry-After that is no time': retryAfter('soon'),
} as const satisfies Readonly<Record<string, Behaviour>>;

export interface MisbehavingReceiver extends MisbehavingServer {
  /** The callback URL of a path; one that no behaviour was given answers 204. */
  readonly callbackUrl: (path: string) => string;
  readonly requestsTo: (path: string) => readonly ReceivedRequest[];
}

/** A customer's endpoint for webhooks on its worst days. */
export async function startMisbehavingReceiver(options: MisbehavingServerOptions = {}): Promise<MisbehavingReceiver> {
  const server = await startMisbehavingServer({ otherwise: status(204), ...options });
  return {
    ...server,
    callbackUrl: (path) => server.url + path,
    requestsTo: (path) => server.requests.filter(({ url }) => url === path),
  };
}
