import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

describeInBrowser('the configuration of agents in a browser', () => {
  const { open, service } = useBrowser();

  it('is ready to copy for each client, and an agent with what was copied lists the records', async () => {
    const { id } = await service.createInstance('bamboohr', BAMBOOHR);
    const page = await open('/console/keys/new');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('textbox', { name: /^Name/ }).fill('Assistant');
    await page.getByRole('listbox', { name: /^Instances/ }).selectOption(String(id));
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog');
    const key = (await dialog.locator('.note code').textContent()) ?? '';
    await dialog.getByText('Use it in an agent (MCP)').click();
    expect(await violationsOf(page)).to.deep.equal([]);

    const copied = new Map<string, string>();
    for (const name of ['Claude Code', 'Cursor', 'VS Code', 'Claude Desktop']) {
      const section = dialog.getByRole('region', { name });
      // Somebody may look over the shoulder.
      expect(await section.textContent())
        .to.contain('••••')
        .and.to.not.contain(key);
      await section.getByRole('button', { name: `Copy the configuration of ${name}` }).click();
      await section
        .getByRole('button', { name: `Copy the configuration of ${name}` })
        .getByText('Copied')
        .waitFor();
      copied.set(name, await page.evaluate<string>('navigator.clipboard.readText()'));
      expect(copied.get(name), name).to.contain(key);
    }
    const url = `${service.app.url}/mcp`;
    expect(copied.get('Claude Code')).to.equal(
      `claude mcp add --transport http causeway ${url} --header "Authorization: Bearer ${key}"`,
    );
    const { env } = JSON.parse(copied.get('Claude Desktop') ?? '').mcpServers.causeway;
    expect(env).to.deep.equal({ CAUSEWAY_URL: service.app.url, CAUSEWAY_KEY: key });
    const { servers } = JSON.parse(copied.get('VS Code') ?? '');
    expect(servers.causeway).to.deep.include({ type: 'http', url });
    const { mcpServers } = JSON.parse(copied.get('Cursor') ?? '');
    const { headers } = mcpServers.causeway;
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(mcpServers.causeway.url), { requestInit: { headers } }),
    );
    const result = await client.callTool({ name: 'query_records', arguments: { object: 'employees', limit: 1 } });
    await client.close();
    expect(Object(result.structuredContent).records).to.have.length(1);
  });
});
