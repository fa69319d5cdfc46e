import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ENCRYPTION_KEYS, useApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { createTemporaryFolder, useDatabase } from '../support/database.ts';
import { countRows } from './support/tenants.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'scripts/organization.ts');
const ACME = ['--name', 'Acme', '--email', 'ann@acme.example.com'];

interface Run {
  readonly code: number;
  readonly output: string;
}

describe('npm run organization', () => {
  const service = useApp({ SIMULATORS_PORT: 'off' });
  const unmigrated = useDatabase({ migrated: false });
  let folder: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));

  function run(options: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Run> {
    const own = { DATABASE_URL: service.databaseUrl, ENCRYPTION_KEYS, DATA_DIR: folder };
    const env = { PATH: process.env.PATH, ...own, PUBLIC_URL: 'https://causeway.example.com', ...environment };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [SCRIPT, ...options], { env, timeout: 120_000 }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
      );
    });
  }

  it('makes an organization beside the first one, and its secrets work at once and for it alone', async () => {
    const { code, output } = await run(['create', ...ACME, '--first-name', 'Ann', '--last-name', 'Lee']);
    expect(code, output).to.equal(0);
    const [name = ''] = await readdir(folder);
    const file = join(folder, name);
    const { organizationId, organizationSecret, accountId, userId, userSecret, baseUrl } = JSON.parse(
      await readFile(file, 'utf8'),
    );
    expect(name).to.equal(`organization-${organizationId}.json`);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(baseUrl).to.equal('https://causeway.example.com/elements/api-v2');
    expect(output).to.equal(
      `Created organization ${organizationId} (Acme) with account ${accountId} and user ${userId} (ann@acme.example.com), its administrator.\nTheir secrets are in ${file}, which only you can read. Pass them on, then delete the file.\n`,
    );
    for (const secret of [organizationSecret, userSecret]) expect(output).to.not.include(secret);

    const headers = { authorization: `User ${userSecret}, Organization ${organizationSecret}` };
    const as = async (path: string, more = {}) => (await service.call(path, { headers, ...more })).body;
    expect(await as('/organizations/me')).to.include({ id: organizationId, name: 'Acme' });
    expect(await as('/users/me')).to.deep.include({
      id: userId,
      email: 'ann@acme.example.com',
      fullName: 'Ann Lee',
      roles: ['org-admin'],
      accountId,
    });
    const accounts = await as('/accounts');
    expect(accounts).to.have.length(1);
    expect(accounts[0]).to.include({ id: accountId, externalId: 'default', name: 'Acme', defaultAccount: true });
    const [first] = await service.get('/accounts');
    expect((await service.call(`/accounts/${first.id}`, { headers })).status).to.equal(404);
    expect((await service.call(`/accounts/${accountId}`)).status).to.equal(404);
    const mixed = { authorization: `User ${userSecret}, Organization ${service.organizationSecret}` };
    expect((await service.call('/organizations/me', { headers: mixed })).status).to.equal(401);
    expect(await as('/accounts', { method: 'POST', body: { externalId: 'emea' } })).to.include({ externalId: 'emea' });
  });

  it('is the command of docs/how-to/administration.md', async () => {
    const [command = '', ...others] = codeBlocks(readFileSync(join(ROOT, 'docs/how-to/administration.md'), 'utf8'))
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code);
    expect(others).to.deep.equal([]);
    const env = { ...process.env, DATABASE_URL: service.databaseUrl, ENCRYPTION_KEYS, DATA_DIR: folder };
    const { stdout } = await promisify(execFile)('bash', ['-euc', command], { cwd: ROOT, env });
    expect(stdout).to.match(
      /^Created organization \d+ \(Acme\) with account \d+ and user \d+ \(ann@acme\.example\.com\)/m,
    );
  });

  it('makes none where the file is there, or cannot be written', async () => {
    const before = await countRows(service, 'organization');
    const file = join(folder, 'acme.json');
    await writeFile(file, 'mine');
    const taken = await run(['create', ...ACME, '--file', file]);
    expect(taken.output).to.include(`${file} already exists. Choose another --file. No organization was created.`);
    expect(await readFile(file, 'utf8')).to.equal('mine');
    const nowhere = await run(['create', ...ACME, '--file', join(folder, 'none', 'acme.json')]);
    expect(nowhere.output).to.include('ENOENT');
    expect([taken.code, nowhere.code]).to.deep.equal([1, 1]);
    expect(await countRows(service, 'organization')).to.equal(before);
  });

  it('says how it is used', async () => {
    const before = await countRows(service, 'organization');
    const help = await run(['--help']);
    expect(help.code).to.equal(0);
    expect(help.output).to.match(/^Usage: npm run organization -- create --name <name> --email <address>/);
    for (const [options, message] of [
      [[], 'Use the command create.'],
      [['remove'], 'Use the command create.'],
      [['create', '--name', ' ', '--email', 'a@b.example'], '--name is missing.'],
      [['create', '--name', 'x'.repeat(256), '--email', 'a@b.example'], '--name has more than 255 characters.'],
      [['create', '--name', 'Acme'], '--email is missing.'],
      [['create', '--name', 'Acme', '--email', 'ann'], '--email is not an e-mail address.'],
      [['create', ...ACME, '--secret', 'x'], "Unknown option '--secret'"],
    ] as const) {
      const { code, output } = await run(options);
      expect(output).to.include(message).and.to.include('Usage: ');
      expect(code).to.equal(1);
    }
    expect(await countRows(service, 'organization')).to.equal(before);
  });

  it('needs the keys of the service, and its tables', async () => {
    const { code, output } = await run(['create', ...ACME], { DATABASE_URL: unmigrated.url });
    expect(output).to.include('This database has no tables of this version. Start the service once, then run this');
    expect(code).to.equal(1);
    const keyless = await run(['create', ...ACME], { ENCRYPTION_KEYS: '' });
    expect(keyless.output).to.include('ENCRYPTION_KEYS is required with DATABASE_URL');
    const other = `other:${Buffer.alloc(32, 8).toString('base64')}`;
    expect((await run(['create', ...ACME], { ENCRYPTION_KEYS: other })).code).to.equal(1);
    expect(await readdir(folder)).to.deep.equal([]);
  });
});
