import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findCluster } from '../../embedded/cluster.ts';
import { findRunningPostmaster } from '../../embedded/postmaster.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { ENCRYPTION_KEYS, FIRST_CREDENTIALS, ORGANIZATION_SECRET, pluck, USER_SECRET } from '../support/app.ts';
import { createTemporaryFolder, createTestDatabase } from '../support/database.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { METADATA } from './support/odata-metadata.ts';
import { authorizationOf, withDatabase } from './support/tenants.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ENDS_WITH_STARTER = fileURLToPath(new URL('../../scripts/ends-with-starter.cjs', import.meta.url));
type Process = ChildProcessByStdio<Writable | null, Readable, Readable>;

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
  this.timeout(60_000);
  let databaseUrl: string;
  let dataDir: string;
  const running = new Set<Process>();
  before(async () => {
    databaseUrl = await createTestDatabase();
    dataDir = await createTemporaryFolder();
  });
  after(async () => {
    for (const child of running) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true });
  });

  function start(environment: Readonly<Record<string, string>> = {}): Process {
    const child = spawn(process.execPath, ['--require', ENDS_WITH_STARTER, MAIN], {
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
      stdio: 'pipe',
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
    const provider = useMisbehavingServer();
    let patient: Ready;
    let hasty: Ready;
    before(async () => {
      [patient, hasty] = await Promise.all([startReady(), startReady({ SHUTDOWN_TIMEOUT: '1' })]);
      provider.answer('/api/', json({ value: [] }));
      provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
    });

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
      const underWay = fetch(`${baseUrl}/items`, { headers: authorizationOf(FIRST_CREDENTIALS, token) });
      await asked;
      child.kill('SIGTERM');
      await until(() => isRefused(baseUrl));
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
    let results: Readonly<Record<'wrongSettings' | 'unknownKey' | 'otherKey', Failure>>;
    before(async () => {
      await withDatabase({ databaseUrl }, (knex) =>
        openPlatformKeys({ knex, keyring: createKeyring(ENCRYPTION_KEYS) }),
      );
      const [wrongSettings, unknownKey, otherKey] = await Promise.all([
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
      results = { wrongSettings, unknownKey, otherKey };
    });

    it('when its settings are wrong: every problem, and no secret', () => {
      const { code, message, output } = results.wrongSettings;
      expect({ code, output }).to.deep.equal({ code: 1, output: '' });
      expect(message.split('\n')).to.deep.equal([
        'The configuration has problems. Correct these variables:',
        '- PORT is "99999"; set it to a whole number from 0 to 65535',
        '- PUBLIC_URL is "ftp://x"; set it to an http or https URL without query and fragment',
        '- ENCRYPTION_KEYS is ******** (16 characters); set it to keys of the form id:base64 of 32 bytes, separated by commas, each id once',
        '- BOOTSTRAP_USER_SECRET is ******** (9 characters); set it to at least 16 letters, digits or any of -._~+/=',
        '- LOG_LEVEL is "loud"; set it to one of fatal, error, warn, info, debug, trace, silent',
        '',
      ]);
    });

    it('when its ENCRYPTION_KEYS are not those of the database', () => {
      const head = 'The configuration has problems. Correct these variables:\n- ENCRYPTION_KEYS';
      expect(results.unknownKey).to.include({
        code: 1,
        message: `${head} lacks the key 'test', with which this database is encrypted\n`,
      });
      expect(results.otherKey).to.include({
        code: 1,
        message: `${head} has another key under the id 'test' than the one with which this database is encrypted\n`,
      });
    });
  });

  describe('that lacks what it needs says so in one line, and exits with 1', () => {
    const changed = (change: (url: URL) => void) => {
      const url = new URL(databaseUrl);
      change(url);
      return url.href;
    };
    const masked = (text: string) => {
      const url = new URL(text);
      return `postgres://${url.username}${url.password && ':********'}@${url.host}${url.pathname}`;
    };
    let busy: Server;
    let port: number;
    before(async () => {
      busy = createServer().listen(0, '127.0.0.1');
      await once(busy, 'listening');
      port = Object(busy.address()).port;
    });
    after(() => busy.close());

    async function expectOneLine(environment: Readonly<Record<string, string>>, line: string | RegExp): Promise<void> {
      const { code, message } = await startInVain(environment);
      expect(message).to.match(/^[^\n]*\n$/);
      if (typeof line === 'string') expect(message).to.equal(`${line}\n`);
      else expect(message).to.match(line);
      expect(code).to.equal(1);
    }

    it('when a port is in use: which variable, before any database is made', async () => {
      const folder = join(dataDir, 'not-made');
      const inUse = (variable: string) =>
        `${variable} ${port} is in use on 127.0.0.1; stop what listens there, or set ${variable} to another port (with 0 the service chooses a free one)`;
      for (const variable of ['PORT', 'SIMULATORS_PORT', 'METRICS_PORT']) {
        const environment = { DATABASE_URL: '', DATA_DIR: folder, [variable]: String(port) };
        await expectOneLine(environment, inUse(variable));
      }
      expect(existsSync(folder)).to.equal(false);
    });

    it('when two of its ports are the same', async () => {
      const free = String(await takeFreePort());
      await expectOneLine({ PORT: free, METRICS_PORT: free }, new RegExp(`^METRICS_PORT ${free} is in use`));
    });

    it('when HOST is not of this machine', async () => {
      await expectOneLine({ HOST: '203.0.113.7' }, 'HOST 203.0.113.7 is not an address of this machine');
    });

    it('when nothing can be kept in DATA_DIR', async () => {
      const file = join(dataDir, 'a-file');
      await writeFile(file, '');
      await expectOneLine({ DATA_DIR: file }, /^DATA_DIR .*a-file cannot be used: EEXIST/);
    });

    it('when DATA_DIR is in use', async () => {
      const folder = await createTemporaryFolder();
      const first = await startReady({ DATABASE_URL: '', DATA_DIR: folder });
      try {
        const line = `DATA_DIR ${folder} is in use by process ${first.child.pid}; stop it, or start this one with another DATA_DIR`;
        await expectOneLine({ DATABASE_URL: '', DATA_DIR: folder }, line);
      } finally {
        const exited = once(first.child, 'exit');
        first.child.kill('SIGTERM');
        await exited;
        await rm(folder, { recursive: true });
      }
    });

    it('when the database refuses the password', async () => {
      const url = changed((one) => {
        one.password = 'canary-password';
      });
      await expectOneLine(
        { DATABASE_URL: url },
        `DATABASE_URL ${masked(url)} cannot be used: password authentication failed for user "${new URL(url).username}"`,
      );
    });

    it('when there is no such database', async () => {
      const url = changed((one) => {
        one.pathname = '/not_there';
      });
      await expectOneLine(
        { DATABASE_URL: url },
        `DATABASE_URL ${masked(url)} cannot be used: database "not_there" does not exist`,
      );
    });

    it('when the database does not answer in DATABASE_WAIT', async () => {
      const url = changed((one) => {
        one.port = '1';
      });
      await expectOneLine(
        { DATABASE_URL: url, DATABASE_WAIT: '0' },
        `DATABASE_URL ${masked(url)} does not respond: connect ECONNREFUSED ${new URL(url).hostname}:1`,
      );
    });
  });

  describe('whose database is not there yet', () => {
    async function startWaiting(): Promise<{ readonly child: Process; readonly port: number }> {
      const port = await takeFreePort();
      const url = new URL(databaseUrl);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      const child = start({ DATABASE_URL: url.href });
      await readLine(child, /does not respond yet; waiting for it: connect ECONNREFUSED/);
      return { child, port };
    }

    it('waits for it', async () => {
      const { hostname, port: databasePort } = new URL(databaseUrl);
      const { child, port } = await startWaiting();
      const proxy = createServer((socket) => {
        const onward = connect(Number(databasePort), hostname);
        socket.on('error', () => onward.destroy()).pipe(onward);
        onward.on('error', () => socket.destroy()).pipe(socket);
      });
      proxy.listen(port, '127.0.0.1');
      await readBaseUrl(child);
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
      proxy.close();
    });

    it('ends at SIGTERM', async () => {
      const { child } = await startWaiting();
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
    });
  });

  describe('started by npm, with its embedded database,', () => {
    it('ends with 0 and leaves no database server when its process group is stopped', async function stops() {
      this.timeout(120_000);
      const folder = await createTemporaryFolder();
      // As a terminal does at Ctrl-C: npm gets the signal as well, and passes it on.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
        const { PATH, HOME } = process.env;
        const child = spawn('npm', ['start'], {
          env: { PATH, HOME, NODE_ENV: 'test', PORT: '0', SIMULATORS_PORT: 'off', DATA_DIR: folder },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        });
        running.add(child);
        await readBaseUrl(child);
        const exited = once(child, 'exit');
        process.kill(-Number(child.pid), signal);
        expect(await exited, signal).to.deep.equal([0, null]);
        const cluster = await findCluster(folder);
        expect(cluster && (await findRunningPostmaster(cluster.directory)), signal).to.equal(undefined);
      }
      await rm(folder, { recursive: true });
    });
  });

  describe('says when it is ready', () => {
    it('what to try, which runs when it is pasted, in any folder', async () => {
      const folder = await createTemporaryFolder();
      const child = start({ DATA_DIR: `./${relative(process.cwd(), folder)}/it's "here"`, DATABASE_URL: '' });
      const [, command = ''] = await readLine(child, /Try it:\n(.+)\n/);
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder });
      expect(pluck(JSON.parse(stdout), 'key')).to.include('bamboohr');
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    });

    it('that it is a worker, which answers health and measurements and nothing else', async () => {
      const child = start({ ROLE: 'worker' });
      const [, health = ''] = await readLine(child, /ROLE=worker: [^)]*, no API\) is running; its health is at (\S+)/);
      const statuses: Record<string, number> = {};
      for (const path of [
        ...['/health/live', '/health/ready', '/metrics', '/', '/docs', '/openapi.json', '/oauth/callback'],
      ])
        statuses[path] = (await fetch(new URL(path, health), { redirect: 'manual' })).status;
      expect(statuses).to.deep.equal({
        '/health/live': 200,
        '/health/ready': 200,
        '/metrics': 200,
        '/': 404,
        '/docs': 404,
        '/openapi.json': 404,
        '/oauth/callback': 404,
      });
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    });
  });
});

function createInstance({ baseUrl }: Ready, providerUrl: string): Promise<Response> {
  return fetch(`${baseUrl}/instances`, {
    method: 'POST',
    headers: { ...authorizationOf(FIRST_CREDENTIALS), 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'odata' }, name: 'x', configuration: { 'base.url': providerUrl } }),
  });
}

async function readBaseUrl(child: Process): Promise<string> {
  const [, url = ''] = await readLine(child, /Causeway is ready at (\S+)/);
  return url;
}

/** Resolves when the process prints it. What it prints later is read too: a full pipe would stop it. */
function readLine({ stdout }: Process, wanted: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let printed = '';
    stdout.on('data', (chunk) => {
      printed += String(chunk);
      const found = wanted.exec(printed);
      if (found !== null) resolve(found);
    });
    stdout.once('end', () => reject(new Error(`The process ended before it was ready: ${printed}`)));
  });
}

async function takeFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  server.close();
  await once(server, 'close');
  return port;
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
