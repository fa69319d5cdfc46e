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
  /** Absolute: what PostgreSQL calls its data directory. */
  readonly directory: string;
  readonly password: string;
}

export const SUPERUSER = 'causeway';

const run = promisify(execFile);
/** Holds the folder and the password, mode 600. Written last, so that a cluster exists whole or not at all. */
const RECORD_FILE = 'postgres.json';

/** The cluster of a DATA_DIR, or undefined before the first start. */
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
  /** The user of the server, if it is not that of this process. */
  readonly user: ServerUser | undefined;
  /** False does not wait until the new files are on the disk. */
  readonly durable: boolean;
  readonly log: Logger;
}

/** Makes a cluster for a DATA_DIR that has none. Of two processes that do so at once, both get the one that was first. */
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

/** Below DATA_DIR; for a user who cannot get there (root's home is closed to all others), in a folder open to all. */
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

/** Ours holds secrets that the server has no use for. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TMPDIR, TEMP } = process.env;
  return { PATH, SystemRoot, TMPDIR, TEMP, LC_ALL: 'C' };
}

/** A folder below DATA_DIR is noted relative to it, so that DATA_DIR can be moved. */
function record(dataDir: string, { directory, password }: Cluster): string {
  const fromDataDir = relative(dataDir, directory);
  const isBelow = !fromDataDir.startsWith('..') && !isAbsolute(fromDataDir);
  return `${JSON.stringify({ directory: isBelow ? fromDataDir : directory, password })}\n`;
}
