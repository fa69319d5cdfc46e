import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subject } from './subject.ts';

/**
 * Returns the missing parts of a connector's README, which is a page of the service's documentation. Empty if the samples name no folder.
 */
export async function checkReadme({ samples: { folder }, target }: Subject): Promise<readonly string[]> {
  if (folder === undefined) return [];
  const text = await readFile(join(folder, 'README.md'), 'utf8').catch(() => undefined);
  if (text === undefined) return [`There is no README.md in ${folder}.`];
  const { name, configuration } = target.connector;
  return [
    ...(/^# \S/.test(text) && text.includes(name)
      ? []
      : [`README.md does not begin with a title, or does not name ${name}.`]),
    ...configuration
      .filter(({ key }) => !text.includes(`\`${key}\``))
      .map(({ key }) => `README.md does not explain \`${key}\`.`),
  ];
}
