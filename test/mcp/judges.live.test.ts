import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { listen } from '../../suite/listen.ts';
import { createKey } from '../api/support/access-keys.ts';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { useApp } from '../support/app.ts';
import { createTemporaryFolder } from '../support/database.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
/** A folder with the judges, for a machine that does not have them among the packages of this project. */
const FOLDER = process.env.MCP_JUDGES ?? ROOT;
const CONFORMANCE = join(FOLDER, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const INSPECTOR = join(FOLDER, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** Scenarios that need no tools, resources and prompts of their own. All others call those of a reference server, such as `test_simple_text`. */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'];

/** Judges of the protocol that others wrote. They are large, so they are no dependencies: `.ci/with-mcp-judges` installs them. */
describe('/mcp before other judges', function judges() {
  this.timeout(60_000);
  const service = useApp();
  let key: string;
  let front: Server;
  let url: string;

  before(async () => {
    const { id } = await service.createInstance('bamboohr', BAMBOOHR);
    ({ key } = await createKey(service, { instances: [id] }));
    front = createFront(() => service.app.url, key);
    url = `http://localhost:${await listen(front)}/mcp`;
  });
  after(() => {
    front.closeAllConnections();
    front.close();
  });

  for (const scenario of SCENARIOS) {
    it(`passes the scenario ${scenario} of the conformance suite`, async function judged() {
      if (!existsSync(CONFORMANCE)) return skip(this, '@modelcontextprotocol/conformance');
      const folder = await createTemporaryFolder();
      try {
        const args = [CONFORMANCE, 'server', '--url', url, '--scenario', scenario, '-o', folder];
        const { stdout, stderr } = await run(process.execPath, args, { cwd: folder }).catch((error) => error);
        expect(`${stdout}${stderr}`).to.match(/Passed: ([1-9]\d*)\/\1, 0 failed/);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  const inspect = async (...args: readonly string[]) => {
    const folder = await createTemporaryFolder();
    try {
      const given = [INSPECTOR, '--cli', `${service.app.url}/mcp`, '--transport', 'http', '--format', 'json'];
      const env = { ...process.env, HOME: folder };
      const all = [...given, '--header', `Authorization: Bearer ${key}`, ...args];
      const { stdout } = await run(process.execPath, all, { env, cwd: folder });
      return JSON.parse(stdout);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  it('gives the inspector its tools, whose schemas other clients can read', async function judged() {
    if (!existsSync(INSPECTOR)) return skip(this, '@modelcontextprotocol/inspector');
    const listed = await inspect('--method', 'tools/list', '--strict');
    const { tools } = listed.result ?? listed;
    expect(tools.map(({ name }: { name: string }) => name)).to.include.members(['list_objects', 'query_records']);
  });

  it('answers a call of the inspector', async function judged() {
    if (!existsSync(INSPECTOR)) return skip(this, '@modelcontextprotocol/inspector');
    const called = await inspect(
      ...['--method', 'tools/call', '--tool-name', 'query_records'],
      ...['--tool-arg', 'object=employees', '--tool-arg', 'limit=2'],
    );
    const { structuredContent } = called.result ?? called;
    expect(structuredContent.records).to.have.length(2);
  });
});

function skip(context: Mocha.Context, name: string): void {
  console.log(`      skipped: ${name} is not installed. Run .ci/with-mcp-judges npm run test:live.`);
  context.skip();
}

/** Adds the key to each request, because the conformance suite sends none. Everything else, `Host` and `Origin` too, stays as it is. */
function createFront(target: () => string, key: string): Server {
  return createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const sent = request(new URL(url, target()), {
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      setHost: false,
    });
    sent.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
}
