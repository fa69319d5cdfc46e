import { type ClientPorts, createProviderClient, type ProviderCall } from '../../src/connector/client/index.ts';
import type { Config, Connector, ProviderRequest } from '../../src/connector/contract.ts';
import { createEgress } from '../../src/egress/index.ts';
import { failureOf } from '../support/failures.ts';
import { leastConnector } from '../support/least-connector.ts';
import { type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { useStarted } from '../support/started.ts';

export const START = Date.parse('2026-03-01T12:00:00Z');
export const API_KEY = 'key-4711/secret+value';

export type ClientSetup = Awaited<ReturnType<typeof setUpClient>>;

/** A client before a misbehaving provider named BambooHR, with a clock that only sleeping moves. */
export async function setUpClient(ports: Partial<ClientPorts> = {}) {
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
  type Overrides = Partial<Omit<ProviderCall, 'connector'>> & { readonly connector?: Partial<Connector> };
  const call = ({ connector: own, ...overrides }: Overrides = {}): ProviderCall => ({
    connector: { ...connector, ...own },
    config,
    signal: new AbortController().signal,
    tally,
    ...overrides,
  });
  const send = (request: ProviderRequest, own: Partial<Connector> = {}) =>
    client.send(call({ connector: own }), request);
  return {
    server,
    connector,
    client,
    /** The milliseconds of every sleep; sleeping moves the clock. */
    sleeps,
    /** Requests noted in the tally of `call`. */
    calls: () => tally.providerCalls,
    call,
    send,
    /** The failure of a request that must fail. */
    fail: (request: ProviderRequest, own?: Partial<Connector>) => failureOf(send(request, own)),
    close: async () => {
      await server.close();
      await egress.close();
    },
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

/** A client for each test of the suite that calls this. */
export function useClient(ports: () => Partial<ClientPorts> = () => ({})): ClientSetup {
  return useStarted(
    () => setUpClient(ports()),
    (setup) => setup.close(),
    'test',
  );
}
