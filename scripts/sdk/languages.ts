import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder with the hand-written parts of the clients. */
export const HAND_WRITTEN = resolve(import.meta.dirname, '../../sdk');

/** The languages of the generated clients: the folders of `sdk/` that configure a generator. */
export const LANGUAGES: readonly string[] = readdirSync(HAND_WRITTEN).filter((name) =>
  existsSync(join(HAND_WRITTEN, name, 'generator.yaml')),
);

/** All packages: the clients by language, and `cli`, which uses one of them. Each has a check. */
const PACKAGES: readonly string[] = readdirSync(HAND_WRITTEN).filter((name) =>
  existsSync(join(HAND_WRITTEN, name, 'check')),
);

/** Returns the packages that a command line names, or all of them if it names none. @throws Error for an unknown name */
export function choosePackages(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !PACKAGES.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no such client; there are ${PACKAGES.join(', ')}.`);
  return names.length === 0 ? PACKAGES : names;
}
