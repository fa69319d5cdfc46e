import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startTestApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { createTemporaryFolder } from '../support/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Whatever this run is. */
const QUICK = { ...process.env, CONFORMANCE: '' };

/** Every choice at least once. */
const PACKAGES = {
  one: ['--paging', 'offset', '--filter', 'infix', '--auth', 'basic'],
  two: ['--paging', 'number', '--filter', 'inputs', '--auth', 'key'],
  three: ['--paging', 'cursor', '--filter', 'infix', '--auth', 'oauth2'],
  four: ['--paging', 'link', '--filter', 'inputs', '--auth', 'basic'],
  five: ['--paging', 'whole', '--filter', 'infix', '--auth', 'key'],
};

describe('a connector in a package of its own', function packages() {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    folder = await createTemporaryFolder();
    await link(folder);
  });
  after(() => rm(folder, { recursive: true }));

  for (const [key, choices] of Object.entries(PACKAGES)) {
    it(`is scaffolded with ${choices.join(' ')} and passes the suite`, async () => {
      const out = join(folder, `causeway-connector-${key}`);
      await scaffold([key, ...choices, '--out', out]);
      const { stdout } = await run(process.execPath, [join(ROOT, 'node_modules/mocha/bin/mocha.js')], {
        cwd: out,
        env: QUICK,
      });
      expect(stdout)
        .to.match(/^ {2}19 passing/m)
        .and.not.match(/failing|pending/);
    });
  }

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

  for (const [what, args, message] of [
    ['a key that is none', ['Acme'], "'Acme' is no key."],
    [
      'a paging that there is not',
      ['acme', '--paging', 'pages'],
      '--paging is one of offset, number, cursor, link, whole.',
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

describe('docs/connectors.md', function tutorial() {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    folder = await createTemporaryFolder();
    await mkdir(join(folder, 'causeway'));
  });
  after(() => rm(folder, { recursive: true }));

  it('leads from nothing to a connector that passes', async () => {
    const markdown = await readFile(join(ROOT, 'docs/connectors.md'), 'utf8');
    const commands = codeBlocks(markdown).filter(({ language }) => language === 'sh');
    await link(folder);
    const script = [NPM, ...commands.map(({ code }) => code)].join('\n');
    const env = { ...QUICK, ROOT, NODE: process.execPath };
    const { stdout } = await run('bash', ['-euc', script], { cwd: join(folder, 'causeway'), env });
    expect(stdout)
      .to.match(/^ {2}19 passing/m)
      .and.match(/^ {2}19 passing/m);
    expect(stdout).to.include('| notes | status | `IN` | exact | exact |');
  });
});

/** npm as far as the guide uses it, without a network: what it would install is linked already. */
const NPM = `npm() {
  case "$*" in
    install*) ;;
    'run new-connector -- '*) "$NODE" "$ROOT/scripts/new-connector.ts" "\${@:4}" ;;
    'run probe -- '*) "$NODE" "$ROOT/scripts/probe.ts" "\${@:4}" ;;
    test) "$NODE" "$ROOT/node_modules/mocha/bin/mocha.js" ;;
    'run test:all') CONFORMANCE=full "$NODE" "$ROOT/node_modules/mocha/bin/mocha.js" ;;
    *) echo "npm $* is not known here" >&2; return 1 ;;
  esac
}`;

/** In place of \`npm install\`, which needs a network. */
async function link(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await symlink(ROOT, join(modules, 'causeway'));
  await symlink(join(ROOT, 'node_modules/mocha'), join(modules, 'mocha'));
}

function scaffold(args: readonly string[]) {
  return run(process.execPath, [join(ROOT, 'scripts/new-connector.ts'), ...args], { cwd: ROOT });
}
