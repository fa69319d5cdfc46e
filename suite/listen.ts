import { once } from 'node:events';
import type { Server } from 'node:net';

/**
 * Starts a server on the loopback, at a free port unless one is given.
 * @returns the port
 */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  return address.port;
}
