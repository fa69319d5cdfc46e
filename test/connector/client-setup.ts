import { type ClientPorts, createProviderClient, type ProviderCall } from '../../src/connector/client/index.ts';
import type { Config, Connector, ProviderRequest } from '../../src/connector/contract.ts';
import { createEgress, type Egress } from '../../src/egress/index.ts';
import type { AppError } from '../../src/errors.ts';
import { failureOf } from '../support/failures.ts';
import { leastConnector } from '../support/least-connector.ts';
import { type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';

export const START = Date.parse('2026-03-01T12:00:00Z');
export const API_KEY = 'key-4711/secret+value';

export interface ClientSetup {
  readonly server: MisbehavingServer;
  readonly connector: Connector;
  readonly client: ReturnType<typeof createProviderClient>;
  /** The milliseconds of every sleep; sleeping moves the clock. */
  readonly sleeps: number[];
  /** Requests noted in the tally of `call`. */
  readonly calls: () => number;
  readonly call: (
    overrides?: Partial<Omit<ProviderCall, 'connector'>> & { connector?: Partial<Connector> },
  ) => ProviderCall;
  readonly send: (request: ProviderRequest, connector?: Partial<Connector>) => Promise<unknown>;
  /** The failure of a request that must fail. */
  readonly fail: (request: ProviderRequest, connector?: Partial<Connector>) => Promise<AppError>;
  readonly close: () => Promise<void>;
}

/** A client before a misbehaving provider named BambooHR, with a clock that only sleeping moves. */
export async function setUpClient(ports: Partial<ClientPorts> = {}): Promise<ClientSetup> {
  const server = await startMisbehavingServer();
  const egress = createEgress({ allow: ['127.0.0.0/8'], simulatorsUrl: ports.simulatorsUrl });
  const connector = createConnector(server);
  const config: Config = { apiKey: API_KEY };
  const sleeps: number[] = [];
  let nowMs = START;
  const tally = { providerCalls: 0 };
  const client = createProviderClient({
    egress,
    clock: {
      now: () => nowMs,
      steady: () => nowMs - START,
      after: (ms, call) => {
        sleeps.push(ms);
        nowMs += ms;
        setImmediate(call);
        return () => {};
      },
    },
    random: { fraction: () => 0.5 },
    ...ports,
  });
  const call: ClientSetup['call'] = ({ connector: own, ...overrides } = {}) => ({
    connector: { ...connector, ...own },
    config,
    signal: new AbortController().signal,
    tally,
    ...overrides,
  });
  const send: ClientSetup['send'] = (request, own = {}) => client.send(call({ connector: own }), request);
  return {
    server,
    connector,
    client,
    sleeps,
    calls: () => tally.providerCalls,
    call,
    send,
    fail: (request, own) => failureOf(send(request, own)),
    close: () => closeAll(server, egress),
  };
}

function createConnector(server: MisbehavingServer): Connector {
  return leastConnector({
    key: 'bamboohr',
    name: 'BambooHR',
    auth: { type: 'basic', credentials: (config) => ({ username: String(config.apiKey), password: 'x' }) },
    configuration: [{ key: 'apiKey', type: 'string', description: 'The API key', required: true, secret: true }],
    baseUrl: () => `${server.url}/api`,
    hosts: [server.host],
    probe: { path: '/probe' },
  });
}

async function closeAll(server: MisbehavingServer, egress: Egress): Promise<void> {
  await server.close();
  await egress.close();
}
