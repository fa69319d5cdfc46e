import { once } from 'node:events';
import type { Server } from 'node:http';

/**
 * Stops a server with its connections, and waits until clients in this process have noticed. The next server may get the same port, and a
 * client with a dead connection would send its next request into it.
 */
export async function stopServer(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  // The ends of connections are processed before this callback.
  await new Promise((resolve) => setImmediate(resolve));
}
