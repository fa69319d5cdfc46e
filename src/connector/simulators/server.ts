import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config, Simulator, SimulatorOptions } from '../contract.ts';
import type { ConnectorPlace, ConnectorSources } from '../places.ts';
import { findPlaces } from '../places.ts';
import { provideContract } from '../provide-contract.ts';
import {
  type DemoAccount,
  type DemoAccounts,
  type Listening,
  SIMULATORS_HOST,
  type SimulatorsOptions,
} from './index.ts';
import { createMemory } from './memory.ts';

export type ListenOptions = SimulatorsOptions & { readonly port: number } & Pick<SimulatorOptions, 'send'>;

const FILE = 'simulator.ts';

/** What `connectors/<key>/simulator.ts` exports. */
interface SimulatorModule {
  readonly createSimulator?: (options: SimulatorOptions) => Simulator;
  /** What an instance on the simulator is set up with. */
  readonly DEMO_CONFIGURATION?: Config;
  /** Applications that may log in, by their ids. */
  readonly CLIENTS?: Readonly<Record<string, { readonly secret?: string }>>;
}

/** Listens and serves `/<key>/…` with each connector's simulator. */
export async function listen(options: ListenOptions): Promise<Listening & { readonly server: Server }> {
  provideContract();
  const byKey = new Map<string, Simulator>();
  const accounts: Record<string, DemoAccount> = {};
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => route(byKey, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, SIMULATORS_HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulators listen on no port.');
  const { memoryFolder, send, url = `http://${SIMULATORS_HOST}:${address.port}` } = options;
  for (const place of await findPlaces(options.sources, FILE)) {
    const { key } = place;
    const baseUrl = `${url}/${key}`;
    const memory = memoryFolder === undefined ? {} : { memory: createMemory(join(memoryFolder, `${key}.json`)) };
    const module = await load(place);
    byKey.set(key, module.createSimulator({ baseUrl, ...(send && { send }), ...memory }));
    accounts[key] = accountOf(module);
  }
  return { server, url, accounts };
}

/** Those of all simulators, without serving any. */
export async function loadAccounts(sources: ConnectorSources): Promise<DemoAccounts> {
  provideContract();
  const places = await findPlaces(sources, FILE);
  const accounts = places.map(async (place) => [place.key, accountOf(await load(place))] as const);
  return Object.fromEntries(await Promise.all(accounts));
}

async function load({
  folder,
}: ConnectorPlace): Promise<SimulatorModule & Required<Pick<SimulatorModule, 'createSimulator'>>> {
  const file = join(folder, FILE);
  const module: SimulatorModule = await import(pathToFileURL(file).href);
  const { createSimulator } = module;
  if (createSimulator === undefined) throw new Error(`${file} exports no createSimulator.`);
  return { ...module, createSimulator };
}

function accountOf({ DEMO_CONFIGURATION = {}, CLIENTS = {} }: SimulatorModule): DemoAccount {
  const [first] = Object.entries(CLIENTS);
  if (first === undefined) return { configuration: DEMO_CONFIGURATION };
  const [id, { secret }] = first;
  return { configuration: DEMO_CONFIGURATION, client: { id, secret } };
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
