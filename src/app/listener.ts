import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { MOST_STREAMED_BYTES } from '../http/body-bytes.ts';
import { createClientErrorHandler } from '../http/client-error.ts';
import { type HttpHandler, handOnInARow, MOST_HEADER_BYTES, startFairly } from '../http/connection.ts';
import { watchBody } from '../http/incoming-body.ts';
import { addressOf, networkOf } from '../http/remote-address.ts';
import { type ConnectionsOptions, watchConnections } from './connections.ts';
import { describeListenError, type WantedPort } from './free-ports.ts';

export type Listener = Awaited<ReturnType<typeof openListener>>;

const LIMITS = {
  maxHeaderSize: MOST_HEADER_BYTES,
  /** Longer than load balancers keep theirs, so that they never send into a closing connection. */
  keepAliveTimeout: 75_000,
  headersTimeout: 15_000,
  /** Bodies have a time of their own, see `watchBody`. */
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
} as const;

/** Maximum time for a body. The largest body that is held in memory takes this long at one megabit per second. */
const BODY_MS = 60_000;
/** Maximum rest of a body that is read and dropped after its response: as much as may be streamed of any body. */
const MOST_DROPPED_BYTES = MOST_STREAMED_BYTES;

/**
 * Listens on the configured address and resolves when it does.
 * @throws StartError that names the variable; other errors of listening
 */
export async function openListener(handler: HttpHandler, options: ConnectionsOptions & WantedPort) {
  const { trust } = options;
  const { handle, ...classes } = handler;
  const fair = startFairly(handle, (request) => networkOf(addressOf(request, trust)));
  const refuse = createClientErrorHandler(options);
  const bounds = {
    ms: BODY_MS,
    end: (socket: Socket) =>
      refuse(Object.assign(new Error('A body is late.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
    droppedBytes: MOST_DROPPED_BYTES,
  };
  const inARow = handOnInARow(fair, (request, response) => watchBody(request, response, options.clock, bounds));
  const server = createServer({ ...LIMITS, ...classes }, inARow);
  const connections = watchConnections(server, options);
  // A caller that waits for "100 Continue" is authorized first; body-bytes.ts sends it. By itself, Node.js would send it at once.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('clientError', refuse);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describeListenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: Number(Object(server.address()).port),
    /** Stops accepting connections. Requests in progress can end within the time-out; then they are cut off. */
    close: async (timeoutMs: number) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.drain();
      const endWait = options.clock.after(timeoutMs, connections.destroy);
      await closed;
      endWait();
    },
  };
}
