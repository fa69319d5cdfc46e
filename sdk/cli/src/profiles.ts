import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { CAUSEWAY } from './command-name.js';
import { NotReadyError } from './failures.js';

/** The instance that commands use by default. */
export interface ChosenInstance {
  readonly id: number;
  readonly name: string;
  readonly elementKey: string;
  readonly token: string;
}

/** The stored secrets of a log-in. */
export interface Profile {
  readonly url: string;
  readonly userSecret: string;
  readonly organizationSecret: string;
  readonly instance?: ChosenInstance;
}

export interface Profiles {
  /** Name of the profile that commands use by default. */
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: 'default', profiles: {} };
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Returns the path of the file with the profiles. On Linux, `XDG_CONFIG_HOME` changes it. */
export function profilesFile(): string {
  return join(envPaths('causeway', { suffix: '' }).config, 'profiles.json');
}

/**
 * Reads the stored profiles.
 * @throws NotReadyError if the file has other content
 */
export async function readProfiles(file = profilesFile()): Promise<Profiles> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return NONE;
  try {
    const read: unknown = JSON.parse(text);
    if (isProfiles(read)) return read;
  } catch {
    // JSON of another kind is treated in the same way.
  }
  throw new NotReadyError(`${file} cannot be read. Remove it, then log in again: ${CAUSEWAY} login`);
}

/**
 * Stores the profiles. Only the user can ever read the file, and concurrent readers see the previous content or the new
 * one.
 */
export async function writeProfiles(profiles: Profiles, file = profilesFile()): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const next = `${file}.${randomUUID()}`;
  try {
    await writeFile(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx' });
    await chmod(next, OWNER_ONLY);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** Returns the profiles with this one added, as the current one. */
export function withProfile({ profiles }: Profiles, name: string, profile: Profile): Profiles {
  return { current: name, profiles: { ...profiles, [name]: profile } };
}

/** Returns the profiles without this one. If it was the current one, the first remaining profile becomes current. */
export function withoutProfile({ current, profiles }: Profiles, name: string): Profiles {
  const { [name]: _, ...left } = profiles;
  return { current: current === name ? (Object.keys(left)[0] ?? NONE.current) : current, profiles: left };
}

function isProfiles(value: unknown): value is Profiles {
  return (
    isObject(value) &&
    typeof value.current === 'string' &&
    isObject(value.profiles) &&
    Object.values(value.profiles).every(isProfile)
  );
}

function isProfile(value: unknown): boolean {
  return (
    isObject(value) && [value.url, value.userSecret, value.organizationSecret].every((text) => typeof text === 'string')
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
