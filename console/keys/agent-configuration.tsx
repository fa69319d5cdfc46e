import { Copy } from '../parts/copy.tsx';

const MASK = '••••••••';

/** Configuration of one client of the Model Context Protocol. */
interface ClientConfiguration {
  readonly title: string;
  readonly place: string;
  readonly write: (url: string, key: string) => string;
}

const json = (value: object) => JSON.stringify(value, null, 2);
const authorization = (key: string) => ({ Authorization: `Bearer ${key}` });

/** The configurations of clients, as `docs/how-to/agents.md` has them. */
const CLIENTS: readonly ClientConfiguration[] = [
  {
    title: 'Claude Code',
    place: 'In a shell',
    write: (url, key) => `claude mcp add --transport http causeway ${url} --header "Authorization: Bearer ${key}"`,
  },
  {
    title: 'Cursor',
    place: '~/.cursor/mcp.json',
    write: (url, key) => json({ mcpServers: { causeway: { url, headers: authorization(key) } } }),
  },
  {
    title: 'VS Code',
    place: '.vscode/mcp.json',
    write: (url, key) => json({ servers: { causeway: { type: 'http', url, headers: authorization(key) } } }),
  },
  {
    title: 'Claude Desktop',
    place: 'claude_desktop_config.json',
    write: (url, key) =>
      json({
        mcpServers: {
          causeway: {
            command: 'causeway',
            args: ['mcp'],
            env: { CAUSEWAY_URL: new URL(url).origin, CAUSEWAY_KEY: key },
          },
        },
      }),
  },
];

/** Shows the configurations with which agents use a key. The key is masked in them, and included when they are copied. */
export function AgentConfiguration({ accessKey }: { readonly accessKey: string }) {
  const url = `${location.origin}/mcp`;
  return (
    <details>
      <summary>Use it in an agent (MCP)</summary>
      <div class="stack tight">
        {CLIENTS.map(({ title, place, write }) => (
          <section key={title} class="stack tight" aria-label={title}>
            <div class="row apart">
              <h3>
                {title} <span class="small soft">{place}</span>
              </h3>
              <Copy text={write(url, accessKey)} what={`the configuration of ${title}`} />
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
            <pre tabIndex={0}>{write(url, MASK)}</pre>
          </section>
        ))}
      </div>
    </details>
  );
}
