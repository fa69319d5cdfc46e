import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createFileOnce, parseJsonObject, readFileIfExists } from '../src/db/files.ts';
import type { Logger } from '../src/log.ts';
import { type Binaries, ensureSharedFolder, SHARED_FOLDER } from './binaries.ts';
import { canReach, type ServerUser } from './server-user.ts';

/** The files of one embedded database. */
export interface Cluster {
  /** Absolute path of the data directory of PostgreSQL. */
  readonly directory: string;
  readonly password: string;
}

export const SUPERUSER = 'causeway';

const run = promisify(execFile);
/** Name of the file with the folder and the password, mode 600. It is written last, so that a cluster exists completely or not at all. */
const RECORD_FILE = 'postgres.json';

/** Returns the cluster of a DATA_DIR. Undefined before the first start. */
export async function findCluster(dataDir: string): Promise<Cluster | undefined> {
  const path = join(dataDir, RECORD_FILE);
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  const { directory, password } = parseJsonObject(text) ?? {};
  if (typeof directory !== 'string' || typeof password !== 'string') {
    throw new Error(`${path} does not describe the embedded database`);
  }
  return { directory: resolve(dataDir, directory), password };
}

/** Returns the owner of a cluster's folder. PostgreSQL must run as this user, even if another user starts this process. */
export async function ownerOf({ directory }: Cluster): Promise<ServerUser> {
  const { uid, gid } = await stat(directory);
  return { uid, gid };
}

export interface NewCluster {
  readonly dataDir: string;
  readonly binaries: Binaries;
  /** The user that the server runs as, if it is not that of this process. */
  readonly user: ServerUser | undefined;
  /** Whether to wait until the new files are on the disk. */
  readonly durable: boolean;
  readonly log: Logger;
}

/** Creates a cluster for a DATA_DIR that has none. If two processes do so at the same time, both get the cluster of the first one. */
export async function createCluster(options: NewCluster): Promise<Cluster> {
  const { dataDir } = options;
  const home = await createHome(options);
  const cluster = { directory: join(home, 'data'), password: randomBytes(24).toString('base64url') };
  try {
    await initialise({ ...options, cluster, home });
    if (await createFileOnce(join(dataDir, RECORD_FILE), record(dataDir, cluster))) return cluster;
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
  await rm(home, { recursive: true, force: true });
  const first = await findCluster(dataDir);
  if (first === undefined) throw new Error(`${join(dataDir, RECORD_FILE)} came and went during the start`);
  return first;
}

/**
 * Creates the folder of the cluster: below DATA_DIR or, for a user who cannot get there because root's home is closed to others, in a
 * folder that is open to all.
 */
async function createHome({ dataDir, user, log }: NewCluster): Promise<string> {
  const name = `postgres-${randomUUID()}`;
  if (user === undefined || (await canReach(user, dataDir))) {
    return createFolder(resolve(dataDir, name), user);
  }
  await ensureSharedFolder();
  log.info(
    { folder: join(SHARED_FOLDER, name) },
    'the embedded database is kept where its user can reach it, not in DATA_DIR',
  );
  return createFolder(join(SHARED_FOLDER, name), user);
}

async function createFolder(path: string, user: ServerUser | undefined): Promise<string> {
  await mkdir(path, { mode: 0o700 });
  if (user !== undefined) await chown(path, user.uid, user.gid);
  return path;
}

interface Initialisation extends NewCluster {
  readonly cluster: Cluster;
  readonly home: string;
}

async function initialise({ cluster, home, binaries, user, durable }: Initialisation): Promise<void> {
  const passwordFile = join(home, 'password');
  await writeFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  if (user !== undefined) await chown(passwordFile, user.uid, user.gid);
  const options = [
    `--pgdata=${cluster.directory}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  await run(binaries.initdb, options, { ...user, cwd: home, env: serverEnvironment() });
  await rm(passwordFile);
}

/** Returns the environment of the server. That of this process holds secrets which the server does not need. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TMPDIR, TEMP } = process.env;
  return { PATH, SystemRoot, TMPDIR, TEMP, LC_ALL: 'C' };
}

/** Prints the record of a cluster. A folder below DATA_DIR is stored relative to it, so that DATA_DIR can be moved. */
function record(dataDir: string, { directory, password }: Cluster): string {
  const fromDataDir = relative(dataDir, directory);
  const isBelow = !fromDataDir.startsWith('..') && !isAbsolute(fromDataDir);
  return `${JSON.stringify({ directory: isBelow ? fromDataDir : directory, password })}\n`;
}
