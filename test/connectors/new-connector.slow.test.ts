import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { chooseOfficial } from '../../scripts/new-connector/official.ts';
import { readOpenApi } from '../../scripts/new-connector/openapi.ts';
import * as kit from '../../src/connector/index.ts';
import { createRegistry } from '../../src/connector/registry.ts';
import { startTestApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { createTemporaryFolder } from '../support/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

const README = `# Acme Desk

| setting | source |
| --- | --- |
| \`api.key\` | Settings → API keys |
| \`webhook.secret\` | Settings → Webhooks |
`;

/** Every choice at least once. */
const PACKAGES = {
  one: ['--paging', 'offset', '--filter', 'infix', '--auth', 'basic'],
  two: ['--paging', 'number', '--filter', 'inputs', '--auth', 'key'],
  three: ['--paging', 'cursor', '--filter', 'infix', '--auth', 'oauth2'],
  four: ['--paging', 'link', '--filter', 'inputs', '--auth', 'basic'],
  five: ['--paging', 'whole', '--filter', 'infix', '--auth', 'key'],
};

/** The types of the service are checked, too: with one checker in half of the CPU time of four, and with less to free memory. */
const CHECKERS = ['--checkers', '1'];
const FREES_SELDOM = { GOGC: '400' };

describe('a connector in a package of its own', function packages() {
  this.timeout(300_000);
  let folder: string;
  let suites: SuiteReport;
  let description: string;
  let madeDesk: string;

  const makeDesk = async () => {
    const out = join(folder, 'packages/desk');
    return (await scaffold(['desk', '--openapi', description, '--auth', 'key', '--out', out])).stdout;
  };

  // One process tests all of them, and one checks their types. Both need most of their time for the service that the suite starts.
  before(async () => {
    folder = await createTemporaryFolder();
    await link(folder);
    for (const [key, choices] of Object.entries(PACKAGES))
      await scaffold([key, ...choices, '--out', join(folder, 'packages', key)]);
    const complete = join(folder, 'packages/acmedesk');
    await scaffold(['acmedesk', '--out', complete]);
    for (const [file, text] of Object.entries(await filesOfGuide())) await writeFile(join(complete, file), text);
    description = join(folder, 'desk.yaml');
    await cp(join(import.meta.dirname, 'descriptions/desk.yaml'), description);
    madeDesk = await makeDesk();
    suites = await runSuites(join(folder, 'packages'));
  });
  after(() => rm(folder, { recursive: true }));

  it('compiles: with each choice, of an official description, and the complete one of the guide', async () => {
    const settings = { extends: './packages/one/tsconfig.json', include: ['packages/*/*.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const args = [join(ROOT, 'node_modules/typescript-7/bin/tsc'), ...CHECKERS];
    const env = { ...process.env, ...FREES_SELDOM };
    const found = await run(process.execPath, args, { cwd: folder, env }).then(
      () => '',
      (error) => `${error.message}\n${error.stdout}`,
    );
    expect(found).to.equal('');
  });

  for (const [key, choices] of Object.entries(PACKAGES)) {
    it(`is scaffolded with ${choices.join(' ')} and passes the suite`, () => {
      expectPassing(suites, key, 19);
    });
  }

  it('passes the whole suite as the complete one of the guide', () => {
    expectPassing(suites, 'acmedesk', 20);
  });

  it('is an element of the service that names it in CONNECTORS', async () => {
    const [home, modules] = [process.cwd(), join(folder, 'service', 'node_modules')];
    await scaffold(['acme', '--out', join(folder, 'acme')]);
    // As npm installs it: a copy, not a link.
    await cp(join(folder, 'acme'), join(modules, 'causeway-connector-acme'), { recursive: true });
    process.chdir(join(folder, 'service'));
    const service = await startTestApp({ CONNECTORS: 'causeway-connector-acme' }).finally(() => process.chdir(home));
    try {
      const settings = { username: 'demo', password: 'demo-password', simulator: true };
      const { token } = await service.createInstance('acme', settings);
      const where = "status = 'open' AND size >= 0";
      const { body, headers } = await service.call('/notes', { token, query: { where } });
      expect(headers.get('elements-query-pushdown')).to.equal('full');
      expect(body).to.have.length.above(5);
    } finally {
      await service.stop();
    }
  });

  it('is made of an official description, again and again', async () => {
    expect(madeDesk).to.include('official.json: 6 operations, 4 schemas');
    const { default: desk } = await import(pathToFileURL(join(folder, 'packages/desk/index.ts')).href);
    expect(createRegistry([desk]).connectors).to.have.length(1);
    expect(await makeDesk()).to.include('official.json: nothing changed');
    const text = await readFile(description, 'utf8');
    await writeFile(
      description,
      text.replace("version: '2026-01'", "version: '2026-02'").replace('maximum: 100', 'maximum: 50'),
    );
    expect(await makeDesk())
      .to.include('~ version: "2026-01" → "2026-02"')
      .and.include('~ operation GET /tickets.query.limit.maximum: 100 → 50')
      .and.not.include('a first connector');
  });

  for (const [what, args, message] of [
    ['a key that is none', ['Acme'], "'Acme' is not a key."],
    [
      'a paging that there is not',
      ['acme', '--paging', 'pages'],
      '--paging must be one of offset, number, cursor, link, whole.',
    ],
  ] as const) {
    it(`is not made of ${what}`, async () => {
      const failure = await scaffold([...args, '--out', join(folder, 'never')]).catch((error: unknown) => error);
      expect(failure).to.have.property('stderr').that.includes(message).and.includes('npm run new-connector -- <key>');
    });
  }

  it('does not overwrite what is there', async () => {
    const failure = await scaffold(['acme', '--out', folder]).catch((error: unknown) => error);
    expect(failure).to.have.property('stderr').that.includes(`${folder} is not empty.`);
  });
});

describe('an official description in several files', () => {
  it('is read together with the files that it refers to', async () => {
    const documents = await readOpenApi(join(import.meta.dirname, 'descriptions/parts/whole.yaml'));
    const Ticket = { type: 'object', properties: { parent: { $ref: '#/schemas/Ticket' } } };
    expect(chooseOfficial(documents, { operations: ['GET /tickets'] })).to.deep.equal({
      source: 'Parts',
      version: '1',
      operations: { 'GET /tickets': { responses: { 200: { $ref: '#/schemas/Ticket' } } } },
      schemas: { Ticket },
    });
  });
});

describe('docs/how-to/write-a-connector.md', function tutorial() {
  this.timeout(300_000);
  let folder: string;
  /** The folders with the programs of two versions of Node.js: the one of the service, and one that is too old for it. */
  let programs: Readonly<Record<'24' | '20', string>>;

  before(async function install() {
    folder = await createTemporaryFolder();
    const old = join(folder, 'node-20');
    await mkdir(old);
    await writeFile(join(old, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
    await run('npm', ['install', 'node@20'], { cwd: old, env: withoutNpm(process.env) }).catch((error: unknown) => {
      if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(String(error))) throw error;
      console.log('    skipped: the guide to connectors, whose packages npm cannot get without a network');
      this.skip();
    });
    programs = { 24: dirname(process.execPath), 20: join(old, 'node_modules/.bin') };
  });
  after(() => rm(folder, { recursive: true }));

  async function follow(version: '24' | '20', commands: readonly string[]): Promise<string> {
    const checkout = join(folder, version, 'causeway');
    await mkdir(checkout, { recursive: true });
    const script = [IN_THE_CHECKOUT, ...commands, 'node --version'].join('\n');
    const path = [programs[version], ...(process.env.PATH ?? '').split(delimiter).filter(isOfMachine)].join(delimiter);
    // `npm test` comes before `npm run test:all`, which tries everything.
    const environment = { ...process.env, ...FREES_SELDOM, CONFORMANCE: 'smoke', CONFORMANCE_OF: undefined };
    const env = { ...withoutNpm(environment), PATH: path, ROOT, NODE: process.execPath };
    const { stdout } = await run('bash', ['-euc', script], { cwd: checkout, env });
    expect(stdout).to.match(new RegExp(`^v${version}\\.`, 'm'));
    return stdout;
  }

  async function commandsOfGuide(): Promise<readonly string[]> {
    const markdown = await readFile(join(ROOT, 'docs/how-to/write-a-connector.md'), 'utf8');
    return codeBlocks(markdown).flatMap(({ language, code }) => (language === 'sh' ? [code] : []));
  }

  it('leads from nothing to a connector that passes, with Node.js 20 first in PATH', async () => {
    const stdout = await follow('20', await commandsOfGuide());
    expect(stdout.match(/^ {2}\d+ passing/gm)).to.deep.equal(['  19 passing', '  20 passing']);
    expect(stdout).to.include('| notes | status | `IN` | exact | exact |');
  });

  // The package has a Node.js of its own, which does the same work for both. So the steps behind the installation are tried once.
  it('installs the package with Node.js 24 first in PATH', async () => {
    const [scaffolding = '', installing = ''] = await commandsOfGuide();
    const upToCheck = installing.slice(0, installing.indexOf('npm run check'));
    expect(upToCheck).to.include('npm install');
    const stdout = await follow('24', [
      scaffolding,
      upToCheck,
      'npm exec -- node --version',
      'npm exec -- mocha --version',
    ]);
    expect(stdout).to.match(/^\d+\.\d+\.\d+$/m);
  });
});

describe('docs/reference/connectors.md', () => {
  it('names everything that the kit has', async () => {
    const markdown = await readFile(join(ROOT, 'docs/reference/connectors.md'), 'utf8');
    const reference = markdown.slice(
      markdown.indexOf('\n## Reference of the kit'),
      markdown.indexOf('\n## The simulator'),
    );
    const missing = Object.keys(kit).filter((name) => !new RegExp(`[\`( ]${name}\\b`).test(reference));
    expect(missing).to.deep.equal([]);
  });
});

/** The guide stands in a checkout; here it is another folder, so that the package is written beside that one. */
const IN_THE_CHECKOUT = `npm() {
  case "$*" in
    'run new-connector -- '*) "$NODE" "$ROOT/scripts/new-connector.ts" "\${@:4}" ;;
    'run probe -- '*) "$NODE" "$ROOT/scripts/probe.ts" "\${@:4}" ;;
    'run check') command npm "$@" -- ${CHECKERS.join(' ')} ;;
    *) command npm "$@" ;;
  esac
}`;

/** What npm tells the programs that it runs would tell an npm below them that it is in this folder. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const told = /^npm_(?:package|lifecycle|command|execpath|node_execpath|config_(?:local|global)_prefix)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !told.test(name)));
}

function isOfMachine(folder: string): boolean {
  return !folder.includes('node_modules');
}

/** In place of `npm install`, which needs a network. */
async function link(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await symlink(ROOT, join(modules, 'causeway'));
  for (const name of ['mocha', '@types']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
}

/** Returns the files of the complete connector in the guide. */
async function filesOfGuide(): Promise<Readonly<Record<string, string>>> {
  const markdown = await readFile(join(ROOT, 'docs/how-to/write-a-connector.md'), 'utf8');
  const [index = '', simulator = '', suite = ''] = codeBlocks(markdown).flatMap(({ language, code }) =>
    language === 'ts' ? [code] : [],
  );
  return { 'index.ts': index, 'simulator.ts': simulator, 'suite.test.ts': suite, 'README.md': README };
}

interface SuiteTest {
  readonly fullTitle: string;
  readonly err: { readonly message?: string };
}

/** The report of mocha. A hook that fails is in `failures`, too. */
type SuiteReport = Readonly<Record<'passes' | 'failures' | 'pending', readonly SuiteTest[]>>;

/** Runs the suites of all packages by mocha's settings of the first: that of the guide with full effort, the others with little. */
async function runSuites(packages: string): Promise<SuiteReport> {
  const report = join(packages, 'report.json');
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`];
  const args = [join(ROOT, 'node_modules/mocha/bin/mocha.js'), ...reporter, '../!(one)/*.test.ts'];
  const env = { ...process.env, CONFORMANCE: 'full', CONFORMANCE_OF: 'acmedesk' };
  const failure = await run(process.execPath, args, { cwd: join(packages, 'one'), env }).catch(
    (error: unknown) => error,
  );
  if (!existsSync(report)) throw failure;
  return JSON.parse(await readFile(report, 'utf8'));
}

function expectPassing(report: SuiteReport, key: string, count: number): void {
  const of = (tests: readonly SuiteTest[]) => tests.filter(({ fullTitle }) => fullTitle.startsWith(`${key} keeps `));
  const unwanted = [...of(report.failures), ...of(report.pending)];
  expect(unwanted.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`)).to.deep.equal([]);
  expect(of(report.passes)).to.have.length(count);
}

function scaffold(args: readonly string[]) {
  return run(process.execPath, [join(ROOT, 'scripts/new-connector.ts'), ...args], { cwd: ROOT });
}
