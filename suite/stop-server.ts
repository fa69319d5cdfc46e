import { once } from 'node:events';
import type { Server } from 'node:http';

/**
 * Ends a server, its connections, and what clients in this process keep of them. The next server may get the same port, and a client that
 * has not seen yet that its connection ended would send the next request into it.
 */
export async function stopServer(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  // What ended is read before this comes.
  await new Promise((resolve) => setImmediate(resolve));
}
