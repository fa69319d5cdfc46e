import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '../src/log.ts';

/** The operating system user that PostgreSQL runs as. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);
const NAME = 'postgres';

/**
 * Returns the user for the server, because PostgreSQL refuses to run as root. For root this is the user `postgres`, which is created if the
 * machine has none.
 */
export async function ensureServerUser(log: Logger): Promise<ServerUser> {
  const existing = await findUser();
  if (existing !== undefined) return existing;
  await createUser();
  log.info({ user: NAME }, 'created a user of the operating system, since PostgreSQL does not run as root');
  const created = await findUser();
  if (created === undefined) throw new Error(`The user ${NAME} was created but cannot be found`);
  return created;
}

/**
 * Returns whether the user may pass every folder of the path, judged by the modes of the folders. Access control lists are not considered.
 */
export async function canReach(user: ServerUser, path: string): Promise<boolean> {
  for (let folder = await realpath(path); ; folder = dirname(folder)) {
    const { uid, gid, mode } = await stat(folder);
    const permissions = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
    if ((permissions & 1) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function findUser(): Promise<ServerUser | undefined> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => (await run('id', [flag, NAME])).stdout));
    return { uid: Number(uid), gid: Number(gid) };
  } catch (error) {
    // `id` exits with 1 for an unknown name. Any other error is a fault.
    if (error instanceof Error && 'code' in error && error.code === 1) return undefined;
    throw error;
  }
}

async function createUser(): Promise<void> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME]);
  } catch (cause) {
    const remedy = `Set DATABASE_URL, create a user named ${NAME}, or start as another user than root`;
    throw new Error(`PostgreSQL does not run as root, and a user for it could not be created. ${remedy}.`, { cause });
  }
}
