/** The first query in each language, which `npm run sdk:names` writes into docs/how-to/sdks.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HAND_WRITTEN, LANGUAGES } from './languages.ts';

const PAGE = resolve(HAND_WRITTEN, '../docs/how-to/sdks.md');
const BEGIN = '<!-- first queries: made from sdk/*/README.md, checked by a test -->\n';
const END = '<!-- end of first queries -->\n';

/** Returns the first example in the README of each client. The check of a client runs the same example as a new user would. */
export function firstQueries(): string {
  const readmes = LANGUAGES.map((language) => ({ language, file: join(HAND_WRITTEN, language, 'README.md') }));
  const queries = readmes
    .filter(({ file }) => existsSync(file))
    .map(
      ({ language, file }) =>
        `[${titleOf(file)}](../../sdk/${language}/README.md):\n\n${firstExample(file, language)}\n`,
    );
  return `${BEGIN}${queries.join('\n')}${END}`;
}

function titleOf(file: string): string {
  return /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? file;
}

/** Returns the first example of a README in the language itself, not in that of a shell. */
function firstExample(file: string, language: string): string {
  const fence = language === 'typescript' ? 'ts' : language;
  const [example] = new RegExp(`^\`\`\`${fence}\n.*?^\`\`\`$`, 'ms').exec(readFileSync(file, 'utf8')) ?? [];
  if (example === undefined) throw new Error(`${file} has no example in ${fence}.`);
  return example;
}

export function writeFirstQueries(): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  writeFileSync(PAGE, before + firstQueries() + (rest.split(END)[1] ?? ''));
}
