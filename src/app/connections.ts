import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { networkOf, type ProxyTrust, peerOf } from '../http/remote-address.ts';
import type { Logger } from '../log.ts';

export interface ConnectionsOptions {
  /** Of all callers together. */
  readonly maxConnections: number;
  /** A proxy has the connections of all who call through it. */
  readonly trust: ProxyTrust;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface Connections {
  /** Ends what waits for its caller; requests that are worked on go on to their answers, which end their connections. */
  readonly drain: () => void;
  readonly destroy: () => void;
}

/** An answer that nobody reads, or a caller that sends nothing: as long as both ends are silent. */
const SILENT_MS = 60_000;
/** The same while the service stops. */
const SILENT_WHILE_STOPPING_MS = 500;
const SHARE_OF_ONE_NETWORK = 1 / 4;
const REPORT_EVERY_MS = 10_000;

/** Keeps the connections of a server, each with the answers that it still owes, and ends those that only wait for their caller. */
export function watchConnections(server: Server, options: ConnectionsOptions): Connections {
  const { maxConnections, trust } = options;
  const owed = new Map<Socket, Set<ServerResponse>>();
  const perNetwork = new Map<string, number>();
  const mostOfOne = Math.ceil(maxConnections * SHARE_OF_ONE_NETWORK);
  const report = createRefusalReport(options);
  let isStopping = false;

  server.maxConnections = maxConnections;
  server.timeout = SILENT_MS;
  server.on('drop', (data) => report(data?.remoteAddress, 'MAX_CONNECTIONS are open'));

  server.on('connection', (socket: Socket) => {
    const address = peerOf(socket);
    const network = networkOf(address);
    const open = (perNetwork.get(network) ?? 0) + 1;
    if (open > mostOfOne && !trust.trusts(address)) {
      report(address, 'its address has its share of MAX_CONNECTIONS');
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

/** The request is here and the answer has not begun: it is not the caller who is waited for. */
function isWorkedOn(responses: ReadonlySet<ServerResponse> = new Set()): boolean {
  return [...responses].some(({ req, headersSent }) => req.complete && !headersSent);
}

/** Of thousands of connections that are refused, a line now and then. */
function createRefusalReport({ log, clock }: Pick<ConnectionsOptions, 'log' | 'clock'>) {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (address: string | undefined, reason: string): void => {
    if (clock.steady() - reportedAtMs < REPORT_EVERY_MS) return;
    reportedAtMs = clock.steady();
    log.warn({ address, reason }, 'refused a connection');
  };
}
