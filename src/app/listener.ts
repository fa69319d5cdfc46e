import { createServer, type RequestListener, type Server } from 'node:http';
import { startFairly } from '../api/fair-start.ts';
import type { Config } from '../config.ts';

/** Room for a `where` of 16 KB with every character percent-encoded. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than load balancers keep theirs, so that they never send into a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const IDLE_SWEEP_MS = 100;

/** Listens where the configuration says; resolves when it does. */
export function listen(handler: RequestListener, { port, host }: Pick<Config, 'port' | 'host'>): Promise<Server> {
  const fair = startFairly(handler, ({ socket }) => socket.remoteAddress ?? '');
  const listener = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }, fair);
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, () => resolve(listener));
  });
}

/** Requests under way end on their own; after the time-out they are cut. */
export async function closeListener(listener: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  listener.closeIdleConnections();
  // The connection of a request that ends later becomes idle then, and would stay for its keep-alive time.
  const sweep = setInterval(() => listener.closeIdleConnections(), IDLE_SWEEP_MS);
  const timer = setTimeout(() => listener.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
