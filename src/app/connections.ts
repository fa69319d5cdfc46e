import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { networkOf, type ProxyTrust, peerOf } from '../http/remote-address.ts';
import type { Logger } from '../log.ts';

export interface ConnectionsOptions {
  /** Maximum number of connections of all callers together. */
  readonly maxConnections: number;
  /** Trusted proxies. The limit per caller does not apply to them, because they carry the connections of many callers. */
  readonly trust: ProxyTrust;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Number of milliseconds for which both ends of a connection may be silent: a response that is not read, or a caller that sends nothing. */
const SILENT_MS = 60_000;
/** Milliseconds of silence after which a connection is closed while the service stops. */
const SILENT_WHILE_STOPPING_MS = 500;
const SHARE_OF_ONE_NETWORK = 1 / 4;
const REPORT_EVERY_MS = 10_000;

/** Tracks the connections of a server and the responses that each still owes. It ends connections that only wait for their caller. */
export function watchConnections(server: Server, options: ConnectionsOptions) {
  const { maxConnections, trust } = options;
  const owed = new Map<Socket, Set<ServerResponse>>();
  const perNetwork = new Map<string, number>();
  const mostOfOne = Math.ceil(maxConnections * SHARE_OF_ONE_NETWORK);
  const report = createRefusalReport(options);
  let isStopping = false;

  server.maxConnections = maxConnections;
  server.timeout = SILENT_MS;
  server.on('drop', (data) => report(data?.remoteAddress, 'all MAX_CONNECTIONS connections are open'));

  server.on('connection', (socket: Socket) => {
    const address = peerOf(socket);
    const network = networkOf(address);
    const open = (perNetwork.get(network) ?? 0) + 1;
    if (open > mostOfOne && !trust.trusts(address)) {
      report(address, 'its address has a quarter of MAX_CONNECTIONS');
      socket.destroy();
      return;
    }
    perNetwork.set(network, open);
    owed.set(socket, new Set());
    socket.once('close', () => {
      owed.delete(socket);
      const left = (perNetwork.get(network) ?? 1) - 1;
      if (left > 0) perNetwork.set(network, left);
      else perNetwork.delete(network);
    });
  });

  server.prependListener('request', ({ socket }, response) => {
    owed.get(socket)?.add(response);
    response.on('close', () => {
      owed.get(socket)?.delete(response);
      if (isStopping && owed.get(socket)?.size === 0) socket.destroySoon();
    });
  });

  server.on('timeout', (socket) => {
    if (isWorkedOn(owed.get(socket))) socket.setTimeout(isStopping ? SILENT_WHILE_STOPPING_MS : SILENT_MS);
    else socket.destroy();
  });

  return {
    /** Ends connections that wait for their caller. Requests in progress continue to their responses, which then end their connections. */
    drain: () => {
      isStopping = true;
      server.timeout = SILENT_WHILE_STOPPING_MS;
      for (const [socket, responses] of owed) {
        if (responses.size === 0) socket.destroy();
        else socket.setTimeout(SILENT_WHILE_STOPPING_MS);
      }
    },
    destroy: () => {
      for (const socket of owed.keys()) socket.destroy();
    },
  };
}

/** Returns whether a request is being processed and its response has not begun, so that the caller is not the one who is waited for. */
function isWorkedOn(responses: ReadonlySet<ServerResponse> = new Set()): boolean {
  return [...responses].some(({ req, headersSent }) => req.complete && !headersSent);
}

/** Logs refused connections, with one line now and then for thousands of them. */
function createRefusalReport({ log, clock }: Pick<ConnectionsOptions, 'log' | 'clock'>) {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (address: string | undefined, reason: string): void => {
    if (clock.steady() - reportedAtMs < REPORT_EVERY_MS) return;
    reportedAtMs = clock.steady();
    log.warn({ address, reason }, 'refused a connection');
  };
}
