import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the parts of the clients are that are written by hand. */
export const HAND_WRITTEN = resolve(import.meta.dirname, '../../sdk');

/** What there is in `sdk/`: clients by their languages, and `cli`, which stands on one of them. Each has a check. */
export const LANGUAGES: readonly string[] = readdirSync(HAND_WRITTEN).filter((name) =>
  existsSync(join(HAND_WRITTEN, name, 'check')),
);

/** The languages that a command line names, all of them when it names none. @throws on a name that is none of them */
export function chooseLanguages(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !LANGUAGES.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no such client; there are ${LANGUAGES.join(', ')}.`);
  return names.length === 0 ? LANGUAGES : names;
}
