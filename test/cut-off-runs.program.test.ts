import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import pg from 'pg';
import { findCluster } from '../embedded/cluster.ts';
import { findRunningPostmaster, signalProcess } from '../embedded/postmaster.ts';
import { startService } from '../scripts/bench/running-service.ts';
import { isErrnoException, readFileIfExists } from '../src/db/files.ts';
import { createTemporaryFolder } from './support/database.ts';
import { openTerminal } from './support/newcomer.ts';
import { until } from './support/until.ts';

const ROOT = join(import.meta.dirname, '..');

describe('what is cut off', function cutOff() {
  this.timeout(90_000);
  let folder = '';
  let starter: ChildProcess | undefined;

  beforeEach(async () => {
    folder = await createTemporaryFolder();
  });
  afterEach(() => {
    starter?.kill('SIGKILL');
  });

  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGINT'] as const) {
    it(`leaves neither a service nor its PostgreSQL behind: a script that starts a service, at ${signal}`, async () => {
      const program = `
        import { startService } from ${JSON.stringify(join(ROOT, 'scripts/bench/running-service.ts'))};
        const { pid } = await startService({ dataDir: ${JSON.stringify(folder)} });
        console.log(pid);`;
      starter = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const service = Number((await firstLine(starter))?.[1]);
      const server = await serverBelow(folder);
      expect([await isAlive(service), await isAlive(server)]).to.deep.equal([true, true]);
      starter.kill(signal);
      await until(async () => !(await isAlive(service)) && !(await isAlive(server)));
    });
  }

  it('says why a service ended before it was ready', async () => {
    const start = startService({ dataDir: folder, environment: { RATE_LIMIT_USER: 'many' } });
    const error = await start.catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.includes('ended (1) before it was ready:')
      .and.includes('RATE_LIMIT_USER');
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`leaves no program of a tutorial behind: its terminal, at ${signal}`, async () => {
      const program = `
        import { openTerminal } from ${JSON.stringify(join(ROOT, 'test/support/newcomer.ts'))};
        const { run } = openTerminal(${JSON.stringify(folder)});
        console.log(await run('sleep 600 & printf "$$ $!"'));
        await run('sleep 600');`;
      starter = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [, shell, inBackground] = (await firstLine(starter, /^(\d+) (\d+)$/)) ?? [];
      const all = [Number(shell), Number(inBackground)];
      expect(await Promise.all(all.map(isAlive))).to.deep.equal([true, true]);
      starter.kill(signal);
      await until(async () => !(await Promise.all(all.map(isAlive))).includes(true));
    });
  }

  it('leaves no program of a tutorial behind: a terminal in which a command failed', async () => {
    const terminal = openTerminal(folder);
    const inBackground = Number(await terminal.run('sleep 600 & printf $!'));
    await terminal.run('false').catch(() => undefined);
    expect(await isAlive(inBackground)).to.equal(true);
    await terminal.close();
    await until(async () => !(await isAlive(inBackground)));
  });

  it('leaves no PostgreSQL behind: mocha, when nobody reads its output any more', async () => {
    // What a run that was killed has left in memory, the next one removes.
    const leftInMemory = join('/dev/shm', `causeway-test-${spawnSync('true').pid}-left`);
    if (existsSync('/dev/shm')) await mkdir(leftInMemory);
    const file = join(folder, 'long.test.js');
    await writeFile(file, LONG_RUN);
    const options = ['--no-config', '--require', join(ROOT, 'test/support/server.ts'), '--timeout', '60000'];
    const { TEST_DATABASE_URL: _, TEST_DATABASE_TEMPLATE: __, ...environment } = process.env;
    starter = spawn(process.execPath, [join(ROOT, 'node_modules/mocha/bin/mocha.js'), ...options, file], {
      cwd: ROOT,
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, url = ''] = (await firstLine(starter, /^database (.+)$/)) ?? [];
    const server = await serverOf(url);
    expect(existsSync(leftInMemory)).to.equal(false);
    expect(await isAlive(server)).to.equal(true);
    starter.stdout?.destroy();
    await once(starter, 'exit');
    await until(async () => !(await isAlive(server)));
  });
});

const LONG_RUN = `
  describe('a long run', () => {
    before(() => console.log('\\ndatabase ' + process.env.TEST_DATABASE_URL));
    for (let index = 0; index < 2_000; index++) it('writes line ' + index, () => new Promise((done) => setTimeout(done, 20)));
  });`;

async function firstLine({ stdout }: ChildProcess, pattern = /^(\d+)$/): Promise<RegExpExecArray | undefined> {
  if (stdout === null) throw new Error('Its output is not a pipe.');
  for await (const line of createInterface({ input: stdout })) {
    const found = pattern.exec(line);
    if (found !== null) return found;
  }
  return undefined;
}

async function serverBelow(dataDir: string): Promise<number> {
  const cluster = await findCluster(dataDir);
  const server = cluster && (await findRunningPostmaster(cluster.directory));
  if (server === undefined) throw new Error(`No PostgreSQL runs in ${dataDir}`);
  return server.pid;
}

async function serverOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select (pg_read_file('postmaster.pid', 0, 20)) as text");
  await client.end();
  return Number.parseInt(rows[0].text, 10);
}

/** A process whose end nobody has asked for is none any more, although its number is taken. */
async function isAlive(pid: number): Promise<boolean> {
  if (!signalProcess(pid, 0)) return false;
  const status = await readFileIfExists(`/proc/${pid}/status`).catch((error: unknown) => {
    // It ended after its file was opened.
    if (isErrnoException(error, 'ESRCH')) return undefined;
    throw error;
  });
  return process.platform !== 'linux' || (status !== undefined && !/^State:\s+Z/m.test(status));
}
