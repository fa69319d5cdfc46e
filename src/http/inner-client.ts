import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { type Duplex, duplexPair, type Readable } from 'node:stream';
import { type HttpHandler, MOST_HEADER_BYTES } from './connection.ts';

/** A request that this process sends to itself. */
export interface InnerRequest {
  readonly method: string;
  /** Path with its query, as in a request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable | undefined;
  readonly signal: AbortSignal;
}

export interface InnerResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Body of the response. The caller must read it to its end, or destroy it. */
  readonly body: Readable;
}

export type SendInner = (request: InnerRequest) => Promise<InnerResponse>;

/**
 * Creates a client of a handler of this process. Requests and responses are those of HTTP, and the connections are pairs of streams in memory,
 * so that a request is handled like any other and needs no port.
 */
export function createInnerClient({ handle, ...classes }: HttpHandler): { send: SendInner; close: () => void } {
  const maxHeaderSize = MOST_HEADER_BYTES;
  const server = createServer({ ...classes, maxHeaderSize, requestTimeout: 0, keepAliveTimeout: 0 }, handle);
  const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 64 });
  const connect = (): Duplex => {
    const [near, far] = duplexPair();
    server.emit('connection', asSocket(far));
    return asSocket(near);
  };
  Object.assign(agent, { createConnection: connect });

  return {
    /** @throws the reason of the signal; Error when the connection breaks */
    send: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const sent = request({ agent, maxHeaderSize, method, path, headers, signal, host: 'inner', setHost: true });
        sent.on('error', (error) => reject(signal.aborted ? signal.reason : error));
        sent.on('response', (response) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
        );
        if (body === undefined || Buffer.isBuffer(body)) sent.end(body);
        else {
          body.on('error', (error) => sent.destroy(error));
          body.pipe(sent);
        }
      }),
    close: () => {
      agent.destroy();
      server.close();
    },
  };
}

/** Adds the methods of sockets that streams do not have. Node calls them on sockets that it keeps, and we do for a large response. */
function asSocket(stream: Duplex): Duplex {
  const same = () => stream;
  return Object.assign(stream, { setKeepAlive: same, setNoDelay: same, setTimeout: same, ref: same, unref: same });
}
