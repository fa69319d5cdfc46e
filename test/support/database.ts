import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { signalProcess } from '../../embedded/postmaster.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { distributeDatabase } from '../../src/db/distribute.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { firstOf } from '../../src/db/row.ts';
import { createLogger } from '../../src/log.ts';
import { copyOnNodes, createSharedDatabase, findNodes, inDatabase, isDistributedRun, query } from './nodes.ts';
import { type Lifetime, useStarted } from './started.ts';

export const silentLog = createLogger({ level: 'silent' });

export interface TestDatabase {
  readonly url: string;
  readonly knex: Knex;
}

interface Server {
  /** URL of a database of a superuser that tests don't use. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

interface TestServer extends Server {
  /** Name of a migrated database to copy. */
  readonly template: string;
}

const template = `causeway_template_${randomBytes(4).toString('hex')}`;
let server: Promise<TestServer> | undefined;
let created = 0;

// Needed where a file runs without the server of the run (server.ts). Mocha has no hooks where that server is started.
if (typeof after === 'function') {
  after(async function stopServer() {
    this.timeout(30_000);
    await (await server)?.stop();
  });
}

/**
 * Creates a database for the tests of the calling suite, migrated unless `migrated` is false. Its properties can be read in tests and in
 * later hooks. The whole run shares the server: TEST_DATABASE_URL, or an embedded one.
 */
export function useDatabase({ migrated = true } = {}): TestDatabase {
  let url: string | undefined;
  let database: Database | undefined;

  before(async function createDatabase() {
    this.timeout(60_000);
    url = await createTestDatabase({ migrated });
    database = openDatabase({ url, poolSize: 5, log: silentLog });
  });

  after(async () => {
    await database?.close();
  });

  return {
    get url() {
      return assertReady(url);
    },
    get knex() {
      return assertReady(database).knex;
    },
  };
}

/** Returns the first row of a query. @throws when there is none */
export async function theRow<Result>(query: PromiseLike<readonly Result[]>): Promise<Result> {
  return firstOf(await query);
}

/**
 * Creates a database, for tests that need more than one. It is deleted with the run: files that were just deleted make new ones slow (ext4
 * looks through them), and a database has hundreds of them.
 * @returns the URL
 */
export async function createTestDatabase({ migrated = true } = {}): Promise<string> {
  server ??= findTestServer();
  const { url, template: copied } = await server;
  return copyDatabase(inDatabase(url, migrated ? copied : 'template0'));
}

/** Copies a database. No connection to it may be open. @returns the URL of the copy */
export async function copyDatabase(copied: string): Promise<string> {
  server ??= findTestServer();
  const { url, template: prefix } = await server;
  created += 1;
  const name = `${prefix}_${process.pid}_${created}`;
  await copyOnNodes(await findNodes(url), nameIn(copied), name);
  return inDatabase(url, name);
}

/** Deletes a database, for tests of one that is gone. */
export async function dropTestDatabase(url: string): Promise<void> {
  if (server === undefined) return;
  for (const node of await findNodes((await server).url))
    await query(node, `drop database if exists ${nameIn(url)} with (force)`);
}

/** Returns the server of the run, or starts one for this process. */
async function findTestServer(): Promise<TestServer> {
  const { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: given } = process.env;
  return url && given ? { url, template: given, stop: async () => {} } : startTestServer();
}

/** @internal Returns an embedded server, or TEST_DATABASE_URL, with a migrated database to copy. */
export async function startTestServer(): Promise<TestServer> {
  const { url, stop } = await openServer();
  await createSharedDatabase(await findNodes(url), template);
  const copied = { url: inDatabase(url, template), log: silentLog };
  await migrateDatabase(copied);
  if (isDistributedRun) await distributeDatabase(copied);
  return { url, template, stop };
}

/** Deletes all databases of this run. */
async function dropDatabases(url: string): Promise<void> {
  for (const node of await findNodes(url)) await dropDatabasesOf(node);
}

async function dropDatabasesOf(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [template],
    );
    for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`);
  } finally {
    await client.end();
  }
}

async function openServer(): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL;
  // A server that ends with the run takes its databases with it, and to delete hundreds of them takes a minute.
  const isThrownAway = process.env.TEST_DATABASE_ENDS === 'yes';
  if (given) return { url: given, stop: async () => (isThrownAway ? undefined : dropDatabases(given)) };
  const dataDir = (await createFolderInMemory()) ?? (await createTemporaryFolder());
  const { url, stop } = await startEmbeddedPostgres({ dataDir, log: silentLog, durable: false });
  return {
    url,
    stop: async () => {
      await stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

/** Linux keeps these files in memory. */
const MEMORY = '/dev/shm';
/** Bytes that must be free there: a run makes some hundred databases of 6 MB. Containers often have 64 MB. */
const ROOM = 6 * 2 ** 30;
const IN_MEMORY = /^causeway-test-(?<pid>\d+)-/;

/** A database is a copy of 700 files, for which a disk needs ten times the CPU time. */
async function createFolderInMemory(): Promise<string | undefined> {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return undefined;
  await removeFoldersOfKilledRuns();
  const { bavail, bsize } = await statfs(MEMORY);
  return bavail * bsize < ROOM ? undefined : createTemporaryFolder(MEMORY, `causeway-test-${process.pid}-`);
}

/** Frees the memory that killed runs left. */
async function removeFoldersOfKilledRuns(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const pid = IN_MEMORY.exec(name)?.groups?.pid;
    const folder = join(MEMORY, name);
    if (pid === undefined || signalProcess(Number(pid), 0)) continue;
    // Another run may just have removed it.
    if (statSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates a folder that other users may enter: when root runs the tests, the server runs as another user. */
export async function createTemporaryFolder(parent = tmpdir(), prefix = 'causeway-test-'): Promise<string> {
  const folder = await mkdtemp(join(parent, prefix));
  await chmod(folder, 0o711);
  return folder;
}

/** Creates a folder for the calling suite, or one for each of its tests. Its path can be read in tests and in later hooks. */
export function useTemporaryFolder(lifetime: Lifetime): { readonly path: string } {
  return useStarted(
    async () => ({ path: await createTemporaryFolder() }),
    ({ path }) => rm(path, { recursive: true }),
    lifetime,
  );
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1);
}

function assertReady<Value>(value: Value | undefined): Value {
  if (value === undefined)
    throw new Error('The test database is ready in tests and in hooks after useDatabase, not before');
  return value;
}
