import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeVariables } from '../src/config/index.ts';
import { hubsOf } from '../src/connector/define.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from '../src/connector/registry.ts';
import { codeBlocks } from './support/code-blocks.ts';
import { createTemporaryFolder } from './support/database.ts';
import { startByNpm, stopByNpm } from './support/newcomer.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

const readPage = (file: string) => readFileSync(join(ROOT, file), 'utf8');
/** The README and a page that continues it. The tutorials have a test of their own. */
const FIRST_PAGES = [README, readPage('docs/how-to/connect-by-oauth.md')];

/** The code blocks of a language, in their order. */
function blocks(language: string, markdown = README): string[] {
  return codeBlocks(markdown)
    .filter((block) => block.language === language)
    .map(({ code }) => code);
}

describe('the README', () => {
  it('has a page that lists every variable as the configuration declares it', () => {
    expect(readPage('docs/reference/configuration.md')).to.include(describeVariables());
  });

  it('lists every element with its hubs, and leads to its README', async () => {
    const connectors = createRegistry(await loadConnectors({ folders: [OWN_CONNECTORS] })).connectors;
    for (const connector of connectors) {
      const hubs = hubsOf(connector).map((hub) => `\`${hub}\``);
      expect(README).to.include(
        `| [\`${connector.key}\`](connectors/${connector.key}/README.md) | ${hubs.join(', ')} |`,
      );
    }
  });

  it('links to files that are there', () => {
    for (const file of ['README.md', ...globSync('docs/*/*.md', { cwd: ROOT })]) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) =>
        join(ROOT, dirname(file), link ?? ''),
      );
      expect(links.filter((link) => !existsSync(link))).to.deep.equal([]);
    }
  });

  it('names the scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...README.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => name === undefined || scripts[name] === undefined)).to.deep.equal([]);
  });
});

/** The number of lines of JSON that the commands of each guide print. */
const ANSWERS: Readonly<Record<string, number>> = {
  'reference/where.md': 4,
  'how-to/bulk.md': 10,
  'how-to/files.md': 3,
  'how-to/receive-events.md': 7,
  'how-to/endpoints.md': 5,
  'how-to/oauth-proxies.md': 2,
  'how-to/administration.md': 12,
  'how-to/access-keys.md': 7,
  'how-to/agents.md': 2,
  'how-to/find-failures.md': 6,
  'how-to/receive-webhooks.md': 6,
  'how-to/map-objects.md': 14,
  'how-to/formulas.md': 5,
  'how-to/watch-schemas.md': 4,
};

describe('a newcomer', () => {
  let folder = '';
  let service: ChildProcess | undefined;

  before(async function start() {
    this.timeout(60_000);
    folder = await createTemporaryFolder();
    expect(blocks('sh')[0]).to.equal('npm ci && npm start\n');
    // The folder stands for a clone, whose examples the guides send.
    await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
    service = await startByNpm({ cwd: ROOT, dataDir: join(folder, '.data') });
  });

  after(async () => {
    if (service !== undefined) await stopByNpm(service);
    await rm(folder, { recursive: true, force: true });
  });

  it('gets from the first command to a filtered page and an event by pasting', async function paste() {
    this.timeout(60_000);
    const marker = '\n### next block ###\n';
    const script = [
      'set -eu',
      ...FIRST_PAGES.flatMap((page) => blocks('bash', page)).flatMap((block) => [
        block,
        `printf '${marker.replaceAll('\n', '\\n')}'`,
      ]),
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder });
    const [, , query = '', keyed = '', , , told = '', gone = '', authorized = ''] = stdout.split(marker);

    const [headers = '', body = ''] = query.split('\r\n\r\n');
    expect(headers)
      .to.match(/^HTTP\/1.1 200 OK/)
      .and.match(/Elements-Query-Pushdown: full/)
      .and.match(/Link: <http:.*>; rel="next"/);
    const rows: { hireDate: string }[] = JSON.parse(body);
    expect(rows).to.have.length(5);
    expect(rows.every(({ hireDate }) => hireDate >= '2024-01-01')).to.equal(true);

    expect(Object.keys(JSON.parse(keyed)[0])).to.deep.equal(['id', 'firstName']);

    const instance = JSON.parse(authorized);
    expect(instance.element.key).to.equal('salesforce');
    expect(instance.valid).to.equal(true);

    const event = JSON.parse(told);
    expect(event.type).to.equal('employees.updated');
    expect(String(event.data.object.id)).to.equal(event.data.objectId);
    expect(JSON.parse(gone)).to.have.property('id');
  });

  it('goes on from there by pasting what the guides have', async function paste() {
    this.timeout(300_000);
    for (const [guide, count] of Object.entries(ANSWERS)) {
      const commands = blocks('bash', readFileSync(join(ROOT, 'docs', guide), 'utf8'));
      const script = [
        'set -eu',
        `{ ${blocks('bash').join('\n')} } > /dev/null`,
        ...commands.flatMap((block) => [block, "printf '\\n'"]),
      ].join('\n');
      const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder });
      const answers = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      expect(answers).to.have.length(count);
      if (guide === 'how-to/receive-events.md')
        expect(answers.flat().map(({ type }) => type)).to.include('employees.updated');
      if (guide === 'how-to/formulas.md') {
        const runs = answers.filter(({ steps }) => steps !== undefined);
        expect(runs.map(({ status }) => status)).to.deep.equal(['success', 'success', 'success']);
        const [first, second, files] = runs.map(({ steps }) => steps);
        expect(first).to.include('createContact');
        expect(second).to.include('isNew').and.not.include('createContact');
        expect(files).to.include('copyFile');
      }
      // The pages leave no files where they are tried.
      expect(readdirSync(folder)).to.have.members(['.data', 'examples']);
      // The activity of a request that failed has its code.
      for (const response of answers.filter((each) => !('providerCalls' in Object(each))))
        expect(Object(response).code, JSON.stringify(response)).to.equal(undefined);
    }
  });

  it('ends the service with SIGTERM to npm', async function stopNpm() {
    this.timeout(60_000);
    if (service === undefined) throw new Error('The service has not started.');
    const { baseUrl } = JSON.parse(readFileSync(join(folder, '.data', 'credentials.json'), 'utf8'));
    await stopByNpm(service);
    const refusal = await fetch(new URL('/health/live', baseUrl)).catch(({ cause }) => cause.code);
    expect(refusal).to.equal('ECONNREFUSED');
  });

  it('encrypts everything again with the command of docs/how-to/keys.md', async function rotate() {
    this.timeout(60_000);
    const [command = '', ...others] = blocks('sh', readFileSync(join(ROOT, 'docs/how-to/keys.md'), 'utf8'));
    expect(others).to.deep.equal([]);
    const environment = { ...process.env, NODE_ENV: '', DATA_DIR: join(folder, '.data') };
    const { stdout } = await promisify(execFile)('bash', ['-euc', command], { cwd: ROOT, env: environment });
    expect(stdout).to.include('The first key alone decrypts every value.');
  });
});

describe('the scripts of package.json that stay in the foreground', () => {
  const { scripts, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const preload = join(ROOT, 'src/preload.cjs');

  it('take the place of the shell, which would not pass a signal on, and ask for the right Node.js first', () => {
    expect(scripts.start).to.match(/^exec node --max-semi-space-size=16 --require \.\/src\/preload\.cjs /);
    for (const name of ['dev', 'organization', 'rotate-keys', 'distribute'])
      expect(scripts[name]).to.match(/^(?:NODE_ENV=\w+ )?exec node --require \.\/src\/preload\.cjs /);
    expect(engines.node).to.equal('>=24.7');
  });

  for (const [version, output] of [
    ['20.20.2', /^Causeway needs Node\.js 24\.7 or newer; this is v20\.20\.2 \(.+\)\. Install it, or .*: npm ci .*\n$/],
    ['24.6.1', /^Causeway needs Node\.js 24\.7 or newer; this is v24\.6\.1 /],
    ['24.7.0', /^$/],
    ['26.1.0', /^$/],
  ] as const) {
    const isTaken = output.test('');
    it(`${isTaken ? 'take' : 'refuse'} Node.js ${version}`, async () => {
      const pretend = `Object.defineProperty(process, 'version', { value: 'v${version}' });
        Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
        require(${JSON.stringify(preload)});`;
      const run = promisify(execFile)(process.execPath, ['-e', pretend]);
      const { stderr, code = 0 } = await run.catch((error) => error);
      expect(stderr).to.match(output);
      expect(code).to.equal(isTaken ? 0 : 1);
    });
  }
});
