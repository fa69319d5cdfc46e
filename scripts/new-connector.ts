import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CHOICES, type Choices } from './new-connector/choices.ts';
import { connectorSource } from './new-connector/connector.ts';
import { simulatorSource } from './new-connector/simulator.ts';
import { MOCHA_TEXT, packageText, readmeText, suiteSource, TYPESCRIPT_TEXT } from './new-connector/texts.ts';

/**
 * `npm run new-connector -- <key>`: writes a folder with a connector of one toy object, its simulator, README and suite. All of its
 * tests pass.
 */

const ROOT = resolve(import.meta.dirname, '..');

const USAGE = `npm run new-connector -- <key> ${Object.entries(CHOICES)
  .map(([name, values]) => `[--${name} ${values.join('|')}]`)
  .join(' ')} [--out folder]
  <key>: lower-case letters and digits, beginning with a letter; the name of the element and its folder
  --out: an empty or new folder for a package of its own; the default is connectors/<key>`;

interface Command {
  readonly choices: Choices;
  /** Folder to write to. Undefined: inside this repository. */
  readonly out: string | undefined;
}

/** Reads the command line. @throws Error that says what was expected */
function readCommand(args: readonly string[]): Command {
  const text = { type: 'string' } as const;
  const options = { paging: text, filter: text, auth: text, out: text };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [key = '', ...more] = positionals;
  if (!/^[a-z][a-z0-9]*$/.test(key) || more.length > 0) throw new Error(`'${positionals.join(' ')}' is not a key.`);
  const paging = choose('paging', values.paging, CHOICES.paging);
  const filter = choose('filter', values.filter, CHOICES.filter);
  const auth = choose('auth', values.auth, CHOICES.auth);
  return { choices: { key, paging, filter, auth }, out: values.out };
}

function choose<const Value extends string>(name: string, given: string | undefined, values: readonly Value[]): Value {
  const chosen = given === undefined ? values[0] : values.find((value) => value === given);
  if (chosen === undefined) throw new Error(`--${name} must be one of ${values.join(', ')}.`);
  return chosen;
}

/** Writes the files. @returns the folder. @throws Error if the folder is not empty */
async function write({ choices, out }: Command): Promise<string> {
  const folder = resolve(out ?? join(ROOT, 'connectors', choices.key));
  if (existsSync(folder) && (await readdir(folder)).length > 0) throw new Error(`${folder} is not empty.`);
  await mkdir(folder, { recursive: true });
  const causeway = relative(await realpath(folder), ROOT);
  const files = {
    'index.ts': connectorSource(choices),
    'simulator.ts': simulatorSource(choices),
    'suite.test.ts': suiteSource(choices),
    'README.md': readmeText(choices),
    ...(out !== undefined && {
      'package.json': packageText(choices, causeway),
      'tsconfig.json': TYPESCRIPT_TEXT,
      '.mocharc.json': MOCHA_TEXT,
    }),
  };
  await Promise.all(Object.entries(files).map(([name, source]) => writeFile(join(folder, name), source)));
  return folder;
}

try {
  const command = readCommand(process.argv.slice(2));
  const folder = await write(command);
  const here = relative(process.cwd(), folder) || '.';
  const test =
    command.out === undefined ? `npm run suite -- ${here}/suite.test.ts` : `cd ${here} && npm install && npm test`;
  console.log(`Written: ${here}\nTest it: ${test}\nThen replace the notes with the objects of the provider.`);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 1;
}
