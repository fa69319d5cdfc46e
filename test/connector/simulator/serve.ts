import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Simulator } from '#connector/simulator';
import { stopServer } from '../../../suite/stop-server.ts';

export interface Served {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** A simulator on a port of its own, made for the address it gets. */
export async function serve(create: (baseUrl: string) => Simulator): Promise<Served> {
  const server = createServer((request, response) => simulator.handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port.');
  const url = `http://127.0.0.1:${address.port}`;
  const simulator = create(url);
  return {
    url,
    stop: () => stopServer(server),
  };
}
