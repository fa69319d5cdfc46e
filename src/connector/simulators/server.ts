import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ConnectorFolder, ConnectorSources } from '../connector-folders.ts';
import { findConnectorFolders } from '../connector-folders.ts';
import type { Config, Simulator, SimulatorOptions } from '../contract.ts';
import { provideContract } from '../provide-contract.ts';
import { type DemoAccount, SIMULATORS_HOST, type SimulatorsOptions } from './index.ts';
import { createMemory } from './memory.ts';

/** The options of a server of simulators. */
export type ListenOptions = SimulatorsOptions & { readonly port: number } & Pick<SimulatorOptions, 'send'>;

const FILE = 'simulator.ts';

/** The exports of `connectors/<key>/simulator.ts`. */
interface SimulatorModule {
  readonly createSimulator: (options: SimulatorOptions) => Simulator;
  /** The configuration of an instance on the simulator. */
  readonly DEMO_CONFIGURATION?: Config;
  /** Applications that may request access, by their ids. */
  readonly CLIENTS?: Readonly<Record<string, { readonly secret?: string }>>;
}

/**
 * The simulators that exist. Each is loaded on first use, because their rows and parsers take memory and most processes use few of them.
 */
export interface LoadedSimulators {
  /**
   * Finds the module of a simulator by key; undefined where there is none.
   * @throws the error of loading the module
   */
  readonly find: (key: string) => Promise<SimulatorModule | undefined>;
  readonly keys: readonly string[];
}

/** Finds the simulators of all connectors. */
export async function findSimulators(sources: ConnectorSources): Promise<LoadedSimulators> {
  provideContract();
  const folders = new Map((await findConnectorFolders(sources, FILE)).map((folder) => [folder.key, folder]));
  return {
    find: async (key) => {
      const folder = folders.get(key);
      return folder === undefined ? undefined : await load(folder);
    },
    keys: [...folders.keys()],
  };
}

/** Listens, and serves each connector's simulator at `/<key>/…`. */
export async function listen(
  options: ListenOptions,
  simulators?: LoadedSimulators,
): Promise<{ readonly url: string; readonly server: Server }> {
  const { find, keys } = simulators ?? (await findSimulators(options.sources));
  const byKey = new Map<string, Promise<Simulator | undefined>>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => void route(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, SIMULATORS_HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulators listen on no port.');
  const { memoryFolder, send, url = `http://${SIMULATORS_HOST}:${address.port}` } = options;

  async function create(key: string): Promise<Simulator | undefined> {
    const memory = memoryFolder === undefined ? {} : { memory: createMemory(join(memoryFolder, `${key}.json`)) };
    return (await find(key))?.createSimulator({ baseUrl: `${url}/${key}`, ...(send && { send }), ...memory });
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, key = '', rest = '/'] = /^\/([^/?]*)(.*)$/.exec(request.url ?? '/') ?? [];
    try {
      const simulator = byKey.get(key) ?? create(key);
      if (keys.includes(key)) byKey.set(key, simulator);
      const made = await simulator;
      if (made === undefined) return respond(response, 404, `No simulator here. There are: ${keys.join(', ')}`);
      request.url = rest.startsWith('/') ? rest : `/${rest}`;
      made.handle(request, response);
    } catch (error) {
      byKey.delete(key);
      respond(response, 500, `The simulator cannot be used: ${error instanceof Error ? error.message : error}`);
    }
  }

  return { server, url };
}

function respond(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message }));
}

async function load({ folder }: ConnectorFolder): Promise<SimulatorModule> {
  const file = join(folder, FILE);
  const module: Partial<SimulatorModule> = await import(pathToFileURL(file).href);
  const { createSimulator } = module;
  if (createSimulator === undefined) throw new Error(`${file} exports no createSimulator.`);
  return { ...module, createSimulator };
}

/** Returns the demo account that a simulator's module exports. */
export function accountOf({ DEMO_CONFIGURATION = {}, CLIENTS = {} }: SimulatorModule): DemoAccount {
  const [first] = Object.entries(CLIENTS);
  if (first === undefined) return { configuration: DEMO_CONFIGURATION };
  const [id, { secret }] = first;
  return { configuration: DEMO_CONFIGURATION, client: { id, secret } };
}
