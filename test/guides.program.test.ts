import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import knex from 'knex';
import { firstQueries } from '../scripts/sdk/first-queries.ts';
import { readConfig } from '../src/config/index.ts';
import { listen } from '../suite/listen.ts';
import { codeBlocks } from './support/code-blocks.ts';
import { createTemporaryFolder, createTestDatabase } from './support/database.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const run = promisify(execFile);

const FILES = [
  'README.md',
  ...globSync('docs/*/*.md', { cwd: ROOT }).toSorted(),
  ...readdirSync(join(ROOT, 'connectors')).map((key) => `connectors/${key}/README.md`),
];

/**
 * What the blocks of each language are. Those of `bash` are pasted into a shell beside a running service, in
 * test/readme.program.test.ts and test/tutorials.program.test.ts; those of `sh` by the tests named here; `js` in test/api/events; `html` in test/console; `json` in the tests of the guide. Those of the
 * clients stand in their own READMEs, whose examples `sdk/<language>/check` runs. `sql` is for a PostgreSQL with Citus: `.ci/with-citus` adds
 * nodes by the same functions, and no test moves shards.
 */
const LANGUAGES = ['bash', 'sh', 'js', 'html', 'json', 'text', 'ts', 'python', 'java', 'go', 'perl', 'sql'];

/** The files that have commands for operators, and how many. */
const COMMANDS = {
  'README.md': 2,
  // In test/api/new-organization.slow.test.ts.
  'docs/how-to/administration.md': 1,
  // In test/api/connect-guide.slow.test.ts.
  'docs/reference/connect-sessions.md': 4,
  // In test/tutorials.program.test.ts.
  'docs/tutorials/connector.md': 1,
  'docs/how-to/back-up.md': 2,
  'docs/how-to/deployment.md': 2,
  'docs/how-to/keys.md': 1,
  'docs/how-to/split-roles.md': 2,
  'docs/how-to/write-a-connector.md': 4,
};

describe('the code of the guides', () => {
  const blocks = FILES.flatMap((file) => codeBlocks(read(file)).map((block) => ({ file, ...block })));

  it('says what it is, so that every command is seen by a test', () => {
    expect(blocks.filter(({ language }) => !LANGUAGES.includes(language))).to.deep.equal([]);
  });

  it('has no commands that no test runs', () => {
    const counts = Object.fromEntries(
      FILES.map((file) => [file, blocks.filter((block) => block.file === file && block.language === 'sh').length]),
    );
    expect(Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))).to.deep.equal(COMMANDS);
    const pasted = new Set(blocks.filter(({ language }) => language === 'bash').map(({ file }) => file));
    expect([...pasted]).to.deep.equal([
      ...[
        'README.md',
        'docs/how-to/access-keys.md',
        'docs/how-to/administration.md',
        'docs/how-to/agents.md',
        'docs/how-to/bulk.md',
        'docs/how-to/connect-by-oauth.md',
        'docs/how-to/endpoints.md',
        'docs/how-to/files.md',
        'docs/how-to/find-failures.md',
        'docs/how-to/formulas.md',
        'docs/how-to/map-objects.md',
        'docs/how-to/oauth-proxies.md',
        'docs/how-to/receive-events.md',
        'docs/how-to/receive-webhooks.md',
        'docs/how-to/watch-schemas.md',
        'docs/reference/where.md',
        'docs/tutorials/connect-page.md',
        'docs/tutorials/connector.md',
        'docs/tutorials/first-event.md',
        'docs/tutorials/first-query.md',
        'docs/tutorials/formulas.md',
        'docs/tutorials/mappings.md',
      ],
    ]);
  });

  it('shows the first query of each client as its own README has it', () => {
    expect(read('docs/how-to/sdks.md')).to.include(firstQueries());
  });

  it('has JSON that is JSON', () => {
    for (const { file, code } of blocks.filter(({ language }) => language === 'json'))
      expect(() => JSON.parse(code), file).not.to.throw();
  });
});

/** The commands of a page that operators paste, in their order. */
function commandsOf(file: string): readonly string[] {
  return codeBlocks(read(file))
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code);
}

describe('the guides for operators', () => {
  const [secrets = '', compose = ''] = commandsOf('docs/how-to/deployment.md');
  const [backup = '', restore = ''] = commandsOf('docs/how-to/back-up.md');
  let folder = '';

  beforeEach(async () => {
    folder = await createTemporaryFolder();
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('makes secrets that the service takes and compose.yaml asks for, for nobody else to read', async () => {
    await run('bash', ['-euc', secrets], { cwd: folder });
    const file = join(folder, '.env');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const made = Object.fromEntries(
      (await readFile(file, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
    );
    const asked = [...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(Object.keys(made)).to.include.members(asked);
    const config = readConfig({
      ...made,
      DATABASE_URL: `postgres://causeway:${made.POSTGRES_PASSWORD}@database/causeway`,
    });
    expect(config).to.deep.include({ publicUrl: 'http://localhost:8080' });
  });

  it('starts the services of the file beside it', async function start() {
    expect(compose).to.equal('docker compose up --build --detach\n');
    if (!(await works('docker compose version'))) this.skip();
    await run('bash', ['-euc', `${secrets}\ncp ${join(ROOT, 'compose.yaml')} . && docker compose config`], {
      cwd: folder,
    });
  });

  it('brings a database back from its backup', async function restoreAgain() {
    this.timeout(60_000);
    const url = await createTestDatabase();
    const restored = new URL(url);
    restored.pathname = '/causeway_restored';
    try {
      if (!(await fits(url))) this.skip();
      await query(url, 'create table kept as select 7 as number');
      const env = { ...process.env, DATABASE_URL: url, SERVER_URL: url, RESTORED_URL: restored.href };
      await run('bash', ['-euc', `${backup}\n${restore}`], { cwd: folder, env });
      expect(await query(restored.href, 'select number from kept')).to.deep.equal([{ number: 7 }]);
    } finally {
      await query(url, 'drop database if exists causeway_restored');
    }
  });
});

describe('docs/how-to/split-roles.md', () => {
  it('starts one process of each role on one database', async function split() {
    this.timeout(120_000);
    const folder = await createTemporaryFolder();
    const [start = '', check = ''] = commandsOf('docs/how-to/split-roles.md');
    const [api, worker] = [await freePort(), await freePort()];
    const here = (block: string) => block.replaceAll('8080', String(api)).replaceAll('8090', String(worker));
    const env = {
      ...process.env,
      NODE_ENV: 'production',
      DATABASE_URL: await createTestDatabase(),
      ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      PUBLIC_URL: 'http://127.0.0.1:8080',
      DATA_DIR: folder,
    };
    const ready = (port: number) =>
      `curl --silent --fail --output ${folder}/ready http://127.0.0.1:${port}/health/ready`;
    const script = [
      ...['set -m', here(start).replaceAll('npm start', 'npm start > /dev/null'), "trap 'kill %1 %2; wait' EXIT"],
      ...[api, worker].map((port) => `until ${ready(port)}; do sleep 0.2; done`),
      here(check),
      `curl --silent --output ${folder}/missing --write-out '%{http_code}' http://127.0.0.1:${worker}/elements/api-v2/hubs`,
    ].join('\n');
    try {
      const { stdout } = await run('bash', ['-euc', script], { cwd: ROOT, env });
      expect(stdout.match(/"status":"ok"/g)).to.have.length(2);
      expect(stdout).to.match(/404$/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

async function works(command: string): Promise<boolean> {
  return run('bash', ['-c', command]).then(
    () => true,
    () => false,
  );
}

/** PostgreSQL's tools are here, and not older than the server: they refuse a newer one. */
async function fits(url: string): Promise<boolean> {
  if (!(await works('pg_dump --version && pg_restore --version && createdb --version'))) return false;
  const { stdout } = await run('pg_dump', ['--version']);
  const [row] = await query(url, "select current_setting('server_version_num')::int / 10000 as major");
  return Number(/(\d+)/.exec(stdout)?.[1]) >= Number(row?.major);
}

async function query(url: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const database = knex({ client: 'pg', connection: url });
  try {
    return (await database.raw(sql)).rows;
  } finally {
    await database.destroy();
  }
}
