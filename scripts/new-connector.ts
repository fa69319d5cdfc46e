import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CHOICES, type Choices } from './new-connector/choices.ts';
import { connectorSource } from './new-connector/connector.ts';
import { DOCUMENT_KINDS, describeConnector, type ProviderDocument } from './new-connector/describe.ts';
import { simulatorSource } from './new-connector/simulator.ts';
import { MOCHA_TEXT, packageText, readmeText, suiteSource, TYPESCRIPT_TEXT } from './new-connector/texts.ts';

/**
 * `npm run new-connector -- <key>`: writes a folder with a connector of one toy object, its simulator, README and suite. All of its
 * tests pass. With a provider's description (`--openapi`, `--odata`, `--discovery` or `--graphql`), it writes the facts of it to
 * `official.json`, and a first connector of them.
 */

const ROOT = resolve(import.meta.dirname, '..');

const USAGE = `npm run new-connector -- <key> ${Object.entries(CHOICES)
  .map(([name, values]) => `[--${name} ${values.join('|')}]`)
  .join(' ')} [--out folder]
  <key>: lower-case letters and digits, beginning with a letter; the name of the element and its folder
  --out: an empty or new folder for a package of its own; the default is connectors/<key>

npm run new-connector -- <key> --openapi <file or folder> | --odata <file> | --discovery <file> | --graphql <file> [--operations "GET /path, POST /path"] [--source text] [--version text] [--out folder]
  --openapi: the provider's description (OpenAPI or Swagger, JSON or YAML); its facts go to official.json. Run it again with a newer
    description to see what changed
  --odata: the $metadata of an OData 4 service, as XML
  --discovery: the discovery document of an API of Google, as JSON
  --graphql: a GraphQL schema, as the JSON of an introspection or in the schema definition language, also packed by gzip. Operations are
    root fields ("QUERY orders, MUTATION orderCreate"). It also writes official.graphql
  --types: with --graphql, the object and input types to keep, separated by blanks; the default is those of official.json
  --operations: the operations that the connector uses; the default is those of official.json, or of a new connector all of them
  --source, --version: what official.json names; the defaults are those of official.json, or the titles and versions of the documents`;

interface Command {
  readonly choices: Choices;
  /** Folder to write to. Undefined: inside this repository. */
  readonly out: string | undefined;
  /** The provider's description. Undefined: there is none. */
  readonly document: ProviderDocument | undefined;
  readonly types: readonly string[] | undefined;
  readonly operations: readonly string[] | undefined;
  readonly source: string | undefined;
  readonly version: string | undefined;
}

/** Reads the command line. @throws Error that says what was expected */
function readCommand(args: readonly string[]): Command {
  const text = { type: 'string' } as const;
  const documents = { openapi: text, odata: text, discovery: text, graphql: text };
  const described = { ...documents, types: text, operations: text, source: text, version: text };
  const options = { paging: text, filter: text, auth: text, out: text, ...described };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [key = '', ...more] = positionals;
  if (!/^[a-z][a-z0-9]*$/.test(key) || more.length > 0) throw new Error(`'${positionals.join(' ')}' is not a key.`);
  const paging = choose('paging', values.paging, CHOICES.paging);
  const filter = choose('filter', values.filter, CHOICES.filter);
  const auth = choose('auth', values.auth, CHOICES.auth);
  const { out, source, version } = values;
  const given = DOCUMENT_KINDS.flatMap((kind) => (values[kind] === undefined ? [] : [{ kind, file: values[kind] }]));
  if (given.length > 1) throw new Error('Name one of --openapi, --odata, --discovery and --graphql.');
  const types = values.types?.trim().split(/\s+/);
  const operations = values.operations?.split(',').map((operation) => operation.trim());
  const choices = { key, paging, filter, auth };
  return { choices, out, document: given[0], types, operations, source, version };
}

function choose<const Value extends string>(name: string, given: string | undefined, values: readonly Value[]): Value {
  const chosen = given === undefined ? values[0] : values.find((value) => value === given);
  if (chosen === undefined) throw new Error(`--${name} must be one of ${values.join(', ')}.`);
  return chosen;
}

/** Writes the files of a connector without a description. @throws Error if the folder is not empty */
async function write(command: Command, folder: string): Promise<void> {
  const { choices } = command;
  if (existsSync(folder) && (await readdir(folder)).length > 0) throw new Error(`${folder} is not empty.`);
  await mkdir(folder, { recursive: true });
  const files = {
    'index.ts': connectorSource(choices),
    'simulator.ts': simulatorSource(choices),
    'suite.test.ts': suiteSource(choices),
    'README.md': readmeText(choices),
    ...(await packageFiles(command, folder)),
  };
  await Promise.all(Object.entries(files).map(([name, source]) => writeFile(join(folder, name), source)));
}

/** Returns the files that make the folder a package of its own. Inside this repository there are none. */
async function packageFiles({ choices, out }: Command, folder: string): Promise<Readonly<Record<string, string>>> {
  if (out === undefined) return {};
  const causeway = relative(await realpath(folder), ROOT);
  return {
    'package.json': packageText(choices, causeway),
    'tsconfig.json': TYPESCRIPT_TEXT,
    '.mocharc.json': MOCHA_TEXT,
  };
}

function testOf({ out }: Command, here: string): string {
  return out === undefined ? `npm run suite -- ${here}/suite.test.ts` : `cd ${here} && npm install && npm test`;
}

try {
  const command = readCommand(process.argv.slice(2));
  const folder = resolve(command.out ?? join(ROOT, 'connectors', command.choices.key));
  const here = relative(process.cwd(), folder) || '.';
  if (command.document === undefined) {
    await write(command, folder);
    console.log(
      `Written: ${here}\nTest it: ${testOf(command, here)}\nThen replace the notes with the objects of the provider.`,
    );
  } else {
    await mkdir(folder, { recursive: true });
    const files = await packageFiles(command, folder);
    const lines = await describeConnector({ ...command, document: command.document, folder, root: ROOT, files });
    console.log(`Written: ${here}\n${lines.join('\n')}`);
  }
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 1;
}
