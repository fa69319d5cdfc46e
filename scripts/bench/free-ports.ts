import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns free ports for a service. */
export async function freePorts(): Promise<Readonly<Record<'PORT' | 'SIMULATORS_PORT', string>>> {
  const servers = [createServer(), createServer()];
  for (const server of servers) server.listen(0, '127.0.0.1');
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const [PORT = '', SIMULATORS_PORT = ''] = servers.map((server) => String(Object(server.address()).port));
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return { PORT, SIMULATORS_PORT };
}
