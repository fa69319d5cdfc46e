import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TestApp } from '../../support/app.ts';

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
