import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { UsageError } from './failures.js';

/** A server on this machine that runs as long as a command. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
}

export type Respond = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Starts a server on 127.0.0.1, or on the given host.
 * @throws UsageError if the port is in use
 */
export async function receive(port: number, respond: Respond, host = '127.0.0.1'): Promise<Receiver> {
  const server = createServer((request, response) => {
    respond(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    throw new UsageError(`The port ${port} of ${host} is in use. Choose another one with --port.`);
  });
  return {
    port: Object(server.address()).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
