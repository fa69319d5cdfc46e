import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the parts of the clients are that are written by hand. */
export const HAND_WRITTEN = resolve(import.meta.dirname, '../../sdk');

/** The languages that there are clients in: the folders of `sdk/` that say which generator makes them. */
export const LANGUAGES: readonly string[] = readdirSync(HAND_WRITTEN).filter((name) =>
  existsSync(join(HAND_WRITTEN, name, 'generator.yaml')),
);

/** All packages: the clients by their languages, and `cli`, which stands on one of them. Each has a check. */
const PACKAGES: readonly string[] = readdirSync(HAND_WRITTEN).filter((name) =>
  existsSync(join(HAND_WRITTEN, name, 'check')),
);

/** The packages that a command line names, all of them when it names none. @throws on a name that is none of them */
export function choosePackages(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !PACKAGES.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no such client; there are ${PACKAGES.join(', ')}.`);
  return names.length === 0 ? PACKAGES : names;
}
