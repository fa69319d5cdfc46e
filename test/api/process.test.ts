import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createKeyring } from '../../src/db/keyring.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { ENCRYPTION_KEYS, ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { createTemporaryFolder, createTestDatabase, dropTestDatabase } from '../support/database.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { METADATA } from './support/odata-metadata.ts';
import { authorizationOf, FIRST_TENANT, withDatabase } from './support/tenants.ts';
import { waitUntil } from './support/wait-until.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
type Process = ChildProcessByStdio<null, Readable, Readable>;

interface Ready {
  readonly child: Process;
  readonly baseUrl: string;
}

interface Failure {
  readonly code: number;
  readonly message: string;
  readonly output: string;
}

describe('the process', function processes() {
  this.timeout(30_000);
  let databaseUrl: string;
  let dataDir: string;
  const running = new Set<Process>();
  before(async () => {
    databaseUrl = await createTestDatabase();
    dataDir = await createTemporaryFolder();
  });
  after(async () => {
    for (const child of running) child.kill('SIGKILL');
    await dropTestDatabase(databaseUrl);
    await rm(dataDir, { recursive: true });
  });

  function start(environment: Readonly<Record<string, string>> = {}): Process {
    const child = spawn(process.execPath, [MAIN], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'test',
        PORT: '0',
        SIMULATORS_PORT: 'off',
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        ENCRYPTION_KEYS,
        EGRESS_ALLOW: '127.0.0.0/8',
        BOOTSTRAP_ORGANIZATION_SECRET: ORGANIZATION_SECRET,
        BOOTSTRAP_USER_SECRET: USER_SECRET,
        LOG_LEVEL: 'info',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    return child;
  }

  async function startReady(environment: Readonly<Record<string, string>> = {}): Promise<Ready> {
    const child = start(environment);
    return { child, baseUrl: await readBaseUrl(child) };
  }

  /** What a start that fails prints as its reason, and its exit code. */
  async function startInVain(environment: Readonly<Record<string, string>>): Promise<Failure> {
    const child = start(environment);
    const exited = once(child, 'exit');
    const [output, message] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await exited;
    return { code, message, output };
  }

  describe('on SIGTERM and SIGINT', () => {
    let provider: MisbehavingServer;
    let patient: Ready;
    let hasty: Ready;
    before(async () => {
      [patient, hasty] = await Promise.all([startReady(), startReady({ SHUTDOWN_TIMEOUT: '1' })]);
      provider = await startMisbehavingServer();
      provider.answer('/api/', json({ value: [] }));
      provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
    });
    after(() => provider.close());

    it('ends the request under way, takes no new one and exits with 0', async () => {
      const { child, baseUrl } = patient;
      const exited = once(child, 'exit');
      const created = await createInstance(patient, `${provider.url}/api`);
      const { token } = JSON.parse(await created.text());

      const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      provider.answer('/api/items', (response, request) => {
        onAsked();
        released.then(() => json({ value: [{ id: 7, name: 'one' }] })(response, request));
      });
      const underWay = fetch(`${baseUrl}/items`, { headers: authorizationOf(FIRST_TENANT, token) });
      await asked;
      child.kill('SIGTERM');
      await waitUntil(() => isRefused(baseUrl));
      expect(child.exitCode).to.equal(null);
      release();

      const answer = await underWay;
      expect(answer.status).to.equal(200);
      expect(JSON.parse(await answer.text())).to.deep.equal([{ id: 7, name: 'one' }]);
      expect(await exited).to.deep.equal([0, null]);
    });

    it('cuts a request that does not end within SHUTDOWN_TIMEOUT', async () => {
      const exited = once(hasty.child, 'exit');
      const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
      provider.answer('/hang/', () => onAsked());
      const cut = createInstance(hasty, `${provider.url}/hang`).catch((error: unknown) => error);
      await asked;
      hasty.child.kill('SIGINT');
      expect(await cut).to.be.instanceOf(TypeError);
      expect(await exited).to.deep.equal([0, null]);
    });
  });

  describe('that cannot start says why in a few words, and exits with 1', () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    let results: Readonly<Record<'portInUse' | 'wrongSettings' | 'unknownKey' | 'otherKey', Failure>>;
    let port: string;
    before(async () => {
      await withDatabase({ databaseUrl }, (knex) =>
        openPlatformKeys({ knex, keyring: createKeyring(ENCRYPTION_KEYS) }),
      );
      const blocker = createServer().listen(0, '127.0.0.1');
      await once(blocker, 'listening');
      port = String(Object(blocker.address()).port);
      const [portInUse, wrongSettings, unknownKey, otherKey] = await Promise.all([
        startInVain({ PORT: port }),
        startInVain({
          PORT: '99999',
          LOG_LEVEL: 'loud',
          ENCRYPTION_KEYS: 'key-one:c2VjcmV0',
          BOOTSTRAP_USER_SECRET: 'too-short',
          PUBLIC_URL: 'ftp://x',
        }),
        startInVain({ ENCRYPTION_KEYS: `other:${other}` }),
        startInVain({ ENCRYPTION_KEYS: `test:${other}` }),
      ]);
      results = { portInUse, wrongSettings, unknownKey, otherKey };
      blocker.close();
    });

    it('when its port is in use', () => {
      const message = `listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`;
      expect(results.portInUse).to.include({ code: 1, message });
    });

    it('when its settings are wrong: every problem, and no secret', () => {
      const { code, message, output } = results.wrongSettings;
      expect({ code, output }).to.deep.equal({ code: 1, output: '' });
      expect(message.split('\n')).to.deep.equal([
        'The configuration is not usable:',
        '- PORT is "99999"; expected a whole number from 0 to 65535',
        '- PUBLIC_URL is "ftp://x"; expected an http or https URL without query and fragment',
        '- ENCRYPTION_KEYS is ******** (16 characters); expected id:base64 of 32 bytes, several separated by commas, every id once',
        '- BOOTSTRAP_USER_SECRET is ******** (9 characters); expected at least 16 letters, digits or any of -._~+/=',
        '- LOG_LEVEL is "loud"; expected one of fatal, error, warn, info, debug, trace, silent',
        '',
      ]);
    });

    it('when its ENCRYPTION_KEYS are not those of the database', () => {
      const head = 'The configuration is not usable:\n- ENCRYPTION_KEYS';
      expect(results.unknownKey).to.include({
        code: 1,
        message: `${head} does not hold the key 'test' this database was encrypted with\n`,
      });
      expect(results.otherKey).to.include({
        code: 1,
        message: `${head} holds another key under the name 'test' than the one this database was encrypted with\n`,
      });
    });
  });
});

function createInstance({ baseUrl }: Ready, providerUrl: string): Promise<Response> {
  return fetch(`${baseUrl}/instances`, {
    method: 'POST',
    headers: { ...authorizationOf(FIRST_TENANT), 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'odata' }, name: 'x', configuration: { 'base.url': providerUrl } }),
  });
}

/** The process prints it when it is ready. What it prints later is read too: a full pipe would stop it. */
function readBaseUrl({ stdout }: Process): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    stdout.on('data', (chunk) => {
      printed += String(chunk);
      const [, url] = /Causeway is ready at (\S+)/.exec(printed) ?? [];
      if (url !== undefined) resolve(url);
    });
    stdout.once('end', () => reject(new Error(`The process ended before it was ready: ${printed}`)));
  });
}

async function isRefused(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return false;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
  }
}
