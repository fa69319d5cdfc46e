import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { stopServer } from '../../suite/stop-server.ts';
import { type Lifetime, useStarted } from './started.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query of the request, unchanged. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export type MisbehavingServer = Awaited<ReturnType<typeof startMisbehavingServer>>;

export interface MisbehavingServerOptions {
  /** Address to listen on. Default: 127.0.0.1. */
  readonly address?: string;
  /** Port to listen on. Default: any free one. */
  readonly port?: number;
  /** Behaviour of paths without one of their own. Default: a 404. */
  readonly otherwise?: Behaviour;
}

/** Starts a server that misbehaves as providers do on their worst days. */
export async function startMisbehavingServer(options: MisbehavingServerOptions = {}) {
  const requests: ReceivedRequest[] = [];
  const scripts = new Map<string, Behaviour[]>();
  const sockets = new Set<Socket>();
  let bytesOfClosed = 0;
  let connections = 0;

  const server = createServer((request, response) => {
    receive(request).then((received) => {
      requests.push(received);
      const behave = takeBehaviour(scripts, received.url) ?? options.otherwise ?? noSuchPath;
      behave(response, request);
    }, ignoreBrokenUpload);
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      bytesOfClosed += socket.bytesWritten;
    });
  });
  const address = options.address ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, address, resolve);
  });
  const host = `${address}:${getPort(server.address())}`;

  return {
    /** URL without a slash at the end. */
    url: `http://${host}`,
    host,
    requests,
    /** Returns the bytes that were sent on all connections so far. */
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, bytesOfClosed),
    openConnections: () => sockets.size,
    /** Returns the number of connections so far. */
    connections: () => connections,
    /** Sets the behaviours of a path (without its query), which apply in turn; the last one stays. Other paths respond with 404. */
    answer: (path: string, ...behaviours: Behaviour[]) => void scripts.set(path, behaviours),
    /** Closes every connection immediately, including those of hanging responses. */
    dropConnections: () => server.closeAllConnections(),
    close: () => stopServer(server),
  };
}

/** Starts a server for the calling suite, or one for each of its tests. */
export function useMisbehavingServer({
  lifetime,
  ...options
}: MisbehavingServerOptions & { readonly lifetime?: Lifetime } = {}): MisbehavingServer {
  return useStarted(
    () => startMisbehavingServer(options),
    ({ close }) => close(),
    lifetime,
  );
}

function getPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port');
  return address.port;
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const { method = '', url = '', headers } = request;
  return { method, url, headers, body: await text(request) };
}

/** Ignores the error of a client that gives up while it sends. */
function ignoreBrokenUpload(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ECONNRESET') throw error;
}

function takeBehaviour(scripts: Map<string, Behaviour[]>, url: string): Behaviour | undefined {
  const script = scripts.get(url.replace(/\?.*/s, '')) ?? [];
  const [first, ...rest] = script;
  if (rest.length > 0) scripts.set(url.replace(/\?.*/s, ''), rest);
  return first;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

export function status(code: number, headers: Headers = {}, body: string | Buffer = ''): Behaviour {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = code;
    response.end(body);
  };
}

export function json(value: unknown, code = 200, headers: Headers = {}): Behaviour {
  return status(code, { 'content-type': 'application/json; charset=utf-8', ...headers }, JSON.stringify(value));
}

export const html: Behaviour = status(
  200,
  { 'content-type': 'text/html' },
  '<!DOCTYPE html><html><body>Please sign in</body></html>',
);

const noSuchPath: Behaviour = status(404, { 'content-type': 'application/json' }, '{"message":"no such path"}');

export const brokenJson: Behaviour = status(200, { 'content-type': 'application/json' }, '{"rows":[{"id":1},');

export function redirect(location: string, code = 302): Behaviour {
  return status(code, { location });
}

/** Never sends the headers. */
export const hang: Behaviour = () => undefined;

/** Stops in the middle of the body, and leaves the connection open. */
export const stallInBody: Behaviour = (response) => {
  response.setHeader('content-type', 'application/json');
  response.write('{"rows":[');
};

export const resetBeforeAnswer: Behaviour = (response) => {
  response.socket?.resetAndDestroy();
};

/** Breaks the connection after a part of the announced length. */
export const resetInBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"rows":[', () => response.socket?.destroy());
};

export const garbage: Behaviour = (response) => {
  response.socket?.end('220 mail.example.com ESMTP ready\r\n');
};

/** Sends a body of unknown length, as fast as the client reads it. */
export function endless(totalBytes: number, headers: Headers = { 'content-type': 'application/json' }): Behaviour {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let left = totalBytes;
    const pump = () => {
      while (left > 0 && !response.destroyed) {
        left -= chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pump);
      }
      response.end();
    };
    pump();
  };
}

/** Creates a short compressed body that claims to be long when it is decompressed. */
export async function createGzipBomb(totalBytes: number): Promise<Behaviour> {
  const gzip = createGzip({ level: 9 });
  const packed = buffer(gzip);
  const chunk = Buffer.alloc(1024 * 1024);
  for (let left = totalBytes; left > 0; left -= chunk.length) gzip.write(chunk);
  gzip.end();
  return status(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, await packed);
}
