import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { CAUSEWAY } from './command-name.js';
import { NotReadyError } from './failures.js';

/** An instance that commands go to unless they name another one. */
export interface ChosenInstance {
  readonly id: number;
  readonly name: string;
  readonly elementKey: string;
  readonly token: string;
}

/** A log-in. */
export interface Profile {
  readonly url: string;
  readonly userSecret: string;
  readonly organizationSecret: string;
  readonly instance?: ChosenInstance;
}

export interface Profiles {
  /** The name of the one that commands use unless they name another one. */
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NONE: Profiles = { current: 'default', profiles: {} };
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Where log-ins are kept. `XDG_CONFIG_HOME` moves it on Linux. */
export function profilesFile(): string {
  return join(envPaths('causeway', { suffix: '' }).config, 'profiles.json');
}

/** @throws NotReadyError where the file is none of this program's */
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
    // The same as JSON of another kind.
  }
  throw new NotReadyError(`${file} cannot be read. Remove it, then log in again: ${CAUSEWAY} login`);
}

/** Nobody but the user can read the file, at no moment of its life; whoever reads it meanwhile sees the former one or this one. */
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

/** With a log-in of this name, which becomes the current one. */
export function withProfile({ profiles }: Profiles, name: string, profile: Profile): Profiles {
  return { current: name, profiles: { ...profiles, [name]: profile } };
}

/** Without the log-in of this name; if it was the current one, the first that is left becomes it. */
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
