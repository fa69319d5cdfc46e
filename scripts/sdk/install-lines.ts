/**
 * Prints how a user installs a client, as its README says, so that the checks can do the same: `node scripts/sdk/install-lines.ts go | bash
 * -e` in a project.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HAND_WRITTEN } from './languages.ts';

const CLONE = resolve(HAND_WRITTEN, '..');

/** Returns the commands for the project of a user: the second block of *Install*. The first block is for the clone. */
function installLines(language: string): string {
  const file = join(HAND_WRITTEN, language, 'README.md');
  const [, section = ''] = readFileSync(file, 'utf8').split('\n## Install\n');
  const [, lines] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code = '']) => code);
  if (lines === undefined) throw new Error(`${file} does not say how a project installs the package.`);
  return lines.replaceAll('<clone>', CLONE);
}

process.stdout.write(installLines(process.argv[2] ?? ''));
