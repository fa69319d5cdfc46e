import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Simulator, SimulatorOptions } from '../contract.ts';
import { findPlaces } from '../places.ts';
import { provideContract } from '../provide-contract.ts';
import { SIMULATORS_HOST, type SimulatorsOptions } from './index.ts';
import { createMemory } from './memory.ts';

export type ListenOptions = SimulatorsOptions & Pick<SimulatorOptions, 'send'>;

const FILE = 'simulator.ts';

/** Listens and serves `/<key>/…` with each connector's simulator. */
export async function listen(options: ListenOptions): Promise<{ readonly server: Server; readonly port: number }> {
  provideContract();
  const byKey = new Map<string, Simulator>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => route(byKey, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, SIMULATORS_HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulators listen on no port.');
  for (const { key, folder } of await findPlaces(options.sources, FILE)) {
    const baseUrl = `http://${SIMULATORS_HOST}:${address.port}/${key}`;
    const { memoryFolder, send } = options;
    const memory = memoryFolder === undefined ? {} : { memory: createMemory(join(memoryFolder, `${key}.json`)) };
    byKey.set(key, await load(join(folder, FILE), { baseUrl, ...(send && { send }), ...memory }));
  }
  return { server, port: address.port };
}

async function load(file: string, options: SimulatorOptions): Promise<Simulator> {
  const module: { readonly createSimulator?: (options: SimulatorOptions) => Simulator } = await import(
    pathToFileURL(file).href
  );
  if (module.createSimulator === undefined) throw new Error(`${file} exports no createSimulator.`);
  return module.createSimulator(options);
}

function route(byKey: ReadonlyMap<string, Simulator>, request: IncomingMessage, response: ServerResponse): void {
  const [, key = '', rest = '/'] = /^\/([^/?]*)(.*)$/.exec(request.url ?? '/') ?? [];
  const simulator = byKey.get(key);
  if (simulator === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: `No simulator here. There are: ${[...byKey.keys()].join(', ')}` }));
    return;
  }
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  simulator.handle(request, response);
}
