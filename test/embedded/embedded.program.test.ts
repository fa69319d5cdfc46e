import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { findCluster } from '../../embedded/cluster.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../embedded/index.ts';
import { findRunningPostmaster } from '../../embedded/postmaster.ts';
import { canReach } from '../../embedded/server-user.ts';
import { createTemporaryFolder, silentLog } from '../support/database.ts';
import { anyFailureOf } from '../support/failures.ts';
import { until } from '../support/until.ts';

const PROGRAM = fileURLToPath(new URL('./embedded-process.ts', import.meta.url));
const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

describe('startEmbeddedPostgres', function () {
  this.timeout(60_000);
  let folder: string;
  let dataDir: string;
  const children: ChildProcess[] = [];
  const started: EmbeddedPostgres[] = [];

  async function start(options: { durable?: boolean } = { durable: false }): Promise<EmbeddedPostgres> {
    const postgres = await startEmbeddedPostgres({ dataDir, log: silentLog, ...options });
    started.push(postgres);
    return postgres;
  }

  async function stopAll(): Promise<void> {
    await Promise.all(started.splice(0).map(({ stop }) => stop()));
  }

  /** @returns the child once its database takes connections, with the database's URL */
  async function startChild(options: { uid?: number; gid?: number; detached?: boolean } = {}) {
    const child = spawn(process.execPath, [PROGRAM, dataDir], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const [url]: string[] = await once(createInterface({ input: child.stdout }), 'line');
    if (url === undefined) throw new Error('The child printed nothing');
    return { child, url };
  }

  async function directoryOf(folderOfCluster: string): Promise<string> {
    const cluster = await findCluster(folderOfCluster);
    if (cluster === undefined) throw new Error('There is no cluster');
    return cluster.directory;
  }

  async function serverOf(folderOfCluster: string): Promise<number> {
    return Number.parseInt(await readFile(join(await directoryOf(folderOfCluster), 'postmaster.pid'), 'utf8'), 10);
  }

  async function keepAnswer(url: string): Promise<void> {
    await query(url, 'create table kept as select 42 as answer');
  }

  async function expectAnswer(url: string): Promise<void> {
    expect(await query(url, 'select answer from kept')).to.deep.equal([{ answer: 42 }]);
    await query(url, 'drop table kept');
  }

  describe('on a folder that has a database', () => {
    before(async () => {
      folder = await createTemporaryFolder();
      dataDir = join(folder, 'data');
      await start();
      await stopAll();
    });

    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
      await stopAll();
    });

    after(async () => {
      await start();
      await stopAll();
      await rm(folder, { recursive: true });
    });

    it('keeps the data over stops', async () => {
      await keepAnswer((await start()).url);
      await stopAll();
      await expectAnswer((await start()).url);
    });

    it('takes no connection from outside this machine, and none without the password', async () => {
      const { url } = await start();
      const port = Number(new URL(url).port);
      for (const address of outsideAddresses()) expect(await canConnect(port, address)).to.equal(false);
      expect(await canConnect(port, '127.0.0.1')).to.equal(true);
      expect(await anyFailureOf(query(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1'))).to.have.property(
        'code',
        '28P01',
      );
    });

    it('keeps the password and the data where others cannot read them', async () => {
      const directory = await directoryOf(dataDir);
      expect(await modeOf(join(dataDir, 'postgres.json'))).to.equal(0o600);
      expect(await modeOf(directory)).to.equal(0o700);
      expect(await readdir(dirname(directory))).to.deep.equal(['data']);
    });

    it('keeps what a commit promised by default', async () => {
      const { url } = await start({});
      const names = ['fsync', 'full_page_writes', 'synchronous_commit'];
      const rows = await query(
        url,
        `select name, setting from pg_settings where name in ('${names.join("','")}') order by name`,
      );
      expect(rows).to.deep.equal(names.map((name) => ({ name, setting: 'on' })));
    });

    it('refuses a second start on the same folder, and says who has it', async () => {
      const { url } = await start();
      expect(await anyFailureOf(start())).to.have.property(
        'message',
        `DATA_DIR ${dataDir} is in use by process ${process.pid}; stop it, or start this one with another DATA_DIR`,
      );
      expect(await query(url, 'select 1 as one')).to.deep.equal([{ one: 1 }]);
    });

    it('takes the server down with a process that is killed', async () => {
      const { child, url } = await startChild();
      await keepAnswer(url);
      await kill(child, 'SIGKILL');
      await untilRefused(url);
      await expectAnswer((await start()).url);
    });

    it('starts again after its process and the guard were killed, though the server lives on', async () => {
      const { child, url } = await startChild();
      await keepAnswer(url);
      process.kill(await guardOf(await serverOf(dataDir)), 'SIGKILL');
      await kill(child, 'SIGKILL');
      expect(await query(url, 'select answer from kept'), 'the orphan answers').to.have.length(1);
      await expectAnswer((await start()).url);
      expect(await anyFailureOf(query(url, 'select 1'))).to.have.property('code', 'ECONNREFUSED');
    });

    it('starts while the server of a process that was killed still stops', async () => {
      const { child, url } = await startChild();
      await keepAnswer(url);
      await kill(child, 'SIGKILL');
      await expectAnswer((await start()).url);
    });

    it('starts again after process and server were killed together', async () => {
      const { child, url } = await startChild();
      await keepAnswer(url);
      const server = await serverOf(dataDir);
      await kill(child, 'SIGKILL');
      process.kill(server, 'SIGKILL');
      await expectAnswer((await start()).url);
    });

    it('is not kept off by a file of a server whose number another process has now', async () => {
      await start();
      const pidFile = join(await directoryOf(dataDir), 'postmaster.pid');
      const text = await readFile(pidFile, 'utf8');
      await stopAll();
      const other = spawn('sleep', ['60'], await ownerOf(dirname(pidFile)));
      children.push(other);
      await writeFile(pidFile, text.replace(/^\d+/, String(other.pid)));
      const { url } = await start();
      expect(await query(url, 'select 1 as one')).to.deep.equal([{ one: 1 }]);
    });

    it('brings a server that was killed back, with its data and on the same port', async () => {
      const { url } = await start();
      await keepAnswer(url);
      process.kill(await serverOf(dataDir), 'SIGKILL');
      await untilAnswered(async () => (await query(url, 'select 1')).length === 1);
      await expectAnswer(url);
    });

    it('owns the server again after one of its processes crashed and it started over', async () => {
      const { url } = await start();
      const pid = await pidOf(url, 'causeway owner');
      process.kill(pid, 'SIGKILL');
      await untilAnswered(async () => {
        const owners = `select from pg_locks where locktype = 'advisory' and granted and pid <> ${pid}`;
        return (await query(url, owners)).length === 1;
      });
      expect(await anyFailureOf(start()))
        .to.have.property('message')
        .that.includes('is in use by process');
    });

    it('leaves no server behind when its process group is stopped, however that comes, thirty times', async function () {
      this.timeout(300_000);
      const directory = await directoryOf(dataDir);
      const left: unknown[] = [];
      for (let round = 0; round < 30; round++) {
        const signal = round % 2 === 0 ? 'SIGINT' : 'SIGTERM';
        const { child } = await startChild({ detached: true });
        const group = -Number(child.pid);
        const server = await serverOf(dataDir);
        const exited = once(child, 'exit');
        process.kill(group, signal);
        // A supervisor that knows all processes signals the server too; npm passes on what it got, a moment later.
        if (round % 3 === 1) signalAgain(server, signal);
        if (round % 3 === 2) {
          await delay(round % 5);
          signalAgain(group, signal);
        }
        expect(await exited, `round ${round}`).to.deep.equal([7, null]);
        const running = await findRunningPostmaster(directory);
        if (running !== undefined) left.push({ round, signal, running });
      }
      expect(left).to.deep.equal([]);
      // The last one may still be on its way out, without its files.
      await until(async () => !(await processes()).some((line) => line.includes(directory)));
    });

    it('leaves the end of the process at a signal to the process', async () => {
      const { child, url } = await startChild();
      expect(await kill(child, 'SIGTERM')).to.deep.equal([7, null]);
      expect(await anyFailureOf(query(url, 'select 1'))).to.have.property('code', 'ECONNREFUSED');
    });

    it('takes the server down with a process that ends without stopping it, and leaves its exit code alone', async () => {
      const { child, url } = await startChild();
      const exited = once(child, 'exit');
      child.stdin?.write('exit\n');
      expect(await exited).to.deep.equal([8, null]);
      await untilRefused(url);
    });

    it('finds the database again after DATA_DIR was moved', async () => {
      await keepAnswer((await start()).url);
      await stopAll();
      await rename(dataDir, join(folder, 'moved'));
      dataDir = join(folder, 'moved');
      await expectAnswer((await start()).url);
    });
  });

  describe('on a new folder', () => {
    beforeEach(async () => {
      folder = await createTemporaryFolder();
      dataDir = join(folder, 'data');
    });

    afterEach(async () => {
      for (const child of children.splice(0)) await kill(child, 'SIGTERM');
      await stopAll();
      await rm(folder, { recursive: true });
    });

    it('lets one of two starts at the same time have the folder', async () => {
      const results = await Promise.allSettled([start(), start()]);
      expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
      const [postgres] = started;
      expect(await query(postgres?.url ?? '', 'select 1 as one')).to.deep.equal([{ one: 1 }]);
      expect(await readdir(dataDir)).to.have.length(2);
    });

    it('says so when the note of the folder is damaged, and makes no other database', async () => {
      await mkdir(dataDir);
      await writeFile(join(dataDir, 'postgres.json'), 'no JSON');
      expect(await anyFailureOf(start())).to.have.property(
        'message',
        `${join(dataDir, 'postgres.json')} does not describe the embedded database`,
      );
      expect(await readdir(dataDir)).to.deep.equal(['postgres.json']);
    });

    it('works for root in a folder that the user of the server cannot enter', async function () {
      if (!isRoot) this.skip();
      await chmod(folder, 0o700);
      const { url } = await start();
      expect(await query(url, 'select 1 as one')).to.deep.equal([{ one: 1 }]);
      const directory = await directoryOf(dataDir);
      expect(directory).to.match(/^\/var\/lib\/causeway\//);
      await stopAll();
      await rm(dirname(directory), { recursive: true });
    });

    it('works for an ordinary user, and later for root on the data of that user', async function () {
      // Nobody cannot run what lies in root's home.
      if (!isRoot || !(await canReach(NOBODY, dirname(PROGRAM))) || !(await canReach(NOBODY, process.execPath)))
        this.skip();
      await mkdir(dataDir);
      await chown(dataDir, NOBODY.uid, NOBODY.gid);
      const { child, url } = await startChild(NOBODY);
      await keepAnswer(url);
      expect(await kill(child, 'SIGTERM')).to.deep.equal([7, null]);
      children.splice(0);
      await expectAnswer((await start()).url);
    });
  });
});

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The process of the server that serves the connection of that name. */
async function pidOf(url: string, name: string): Promise<number> {
  const [row] = await query(url, `select pid from pg_stat_activity where application_name = '${name}'`);
  return Number(Object(row).pid);
}

/** The number and the command line of each. */
async function processes(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-Ao', 'pid=,args=']);
  return stdout.split('\n');
}

async function guardOf(server: number): Promise<number> {
  const line = (await processes()).find((one) => one.endsWith(`causeway-guard ${server}`));
  if (line === undefined) throw new Error('Nothing guards the server');
  return Number.parseInt(line, 10);
}

async function untilRefused(url: string): Promise<void> {
  const refused = () =>
    query(url, 'select 1').then(
      () => false,
      () => true,
    );
  while (!(await refused()));
}

/** Through times when the server refuses or breaks connections. */
function untilAnswered(isTrue: () => Promise<boolean>): Promise<void> {
  return until(() => isTrue().catch(() => false));
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exited = once(child, 'exit');
  child.kill(signal);
  return exited;
}

/** Signals a process, or a group of them, that had a signal a moment ago and may have ended since. */
function signalAgain(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

async function ownerOf(path: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const { uid, gid } = await stat(path);
  return { uid, gid };
}

function outsideAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((ofInterface) => ofInterface ?? []);
  return addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

function canConnect(port: number, host: string): Promise<boolean> {
  const socket = connect({ port, host, timeout: 2000 });
  return new Promise((resolveConnected) => {
    socket.on('connect', () => resolveConnected(true));
    socket.on('error', () => resolveConnected(false));
    socket.on('timeout', () => resolveConnected(false));
  }).then((connected) => {
    socket.destroy();
    return connected === true;
  });
}
