import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Connector } from '../../../src/connector/index.ts';
import { createKey } from '../../api/support/access-keys.ts';
import { type TestApp, useApp } from '../../support/app.ts';
import { type Behaviour, type MisbehavingServer, startMisbehavingServer } from '../../support/misbehaving-server.ts';

/** Result of a tool, as tests read it. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  // Tests read results whose shape the client has already validated against the schema of the output.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly data: any;
  /** Size of the whole result in bytes. */
  readonly bytes: number;
}

/** An agent: the client of the SDK, connected to `/mcp` with an access key. */
export interface Agent {
  readonly client: Client;
  readonly use: (tool: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
  readonly close: () => Promise<void>;
}

export async function connectAgent(service: Pick<TestApp, 'app'>, key: string): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.app.url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    client,
    use: async (name, args = {}) => {
      const result = await client.callTool({ name, arguments: args });
      const [first] = Array.isArray(result.content) ? result.content : [];
      return {
        isError: result.isError === true,
        text: String(first?.text ?? ''),
        data: result.structuredContent,
        bytes: Buffer.byteLength(JSON.stringify(result)),
      };
    },
    close: () => client.close(),
  };
}

/** Sends a request to `/mcp` as the SDK does. A body that is no text is sent as JSON. */
export async function sendMcp(
  { app }: Pick<TestApp, 'app'>,
  { body, headers, method = 'POST' }: { body?: unknown; headers: Readonly<Record<string, string>>; method?: string },
) {
  const response = await fetch(new URL('/mcp', app.url), {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * Starts a service with one connector, whose provider a test serves, and an agent that may write and pass requests through to it. The
 * members can be used in tests.
 */
export function useAgentOf(connector: Connector, { serve, allow }: { serve: Behaviour; allow: readonly string[] }) {
  const overrides = { connectors: [connector], simulatorsUrl: '' };
  let provider: MisbehavingServer;
  let agent: Agent;
  before(async () => {
    provider = await startMisbehavingServer({ otherwise: serve });
    Object.assign(overrides, { simulatorsUrl: provider.url });
  });
  after(() => provider.close());
  const service = useApp({ SIMULATORS_PORT: 'off' }, overrides);
  // After the service has started.
  before(async () => {
    const { id } = await service.createInstance(connector.key, { simulator: true });
    const { key } = await createKey(service, { instances: [id], access: 'write', allow });
    agent = await connectAgent(service, key);
  });
  after(() => agent.close());
  return {
    get agent() {
      return agent;
    },
    get provider() {
      return provider;
    },
  };
}
