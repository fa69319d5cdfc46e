import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Config, Connector } from '#connector';
import { loadConnectors, OWN_CONNECTORS } from '../src/connector/registry.ts';
import { type Measured, measureObject, takeRows } from '../suite/measure.ts';
import { type Fixture, scrub } from '../suite/scrub.ts';
import { type Connection, type CreateSimulator, connect, serveSimulator } from '../suite/testing.ts';

/**
 * `npm run probe -- <key>`: compares the behaviour of the real provider with the declaration of the connector. It only reads. The exchanges
 * are stored as fixtures, without secrets.
 */

const USAGE = `npm run probe -- <key> [--folder folder] [--simulator] [--rows 200] [--literals 3] [--out folder]
  --folder: folder of the connector; the default is to search connectors/<key>, CONNECTORS_PATH and CONNECTORS
  --simulator: use the simulator of the connector in place of the provider
  --out: folder for the fixtures; without it, none are written
  Environment variables contain the settings: PROBE_API_KEY is 'api.key'. For OAuth, PROBE_OAUTH_USER_TOKEN is an access token.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string' },
    simulator: { type: 'boolean', default: false },
    rows: { type: 'string', default: '200' },
    literals: { type: 'string', default: '3' },
    out: { type: 'string' },
  },
});

interface Module {
  readonly createSimulator?: CreateSimulator;
  readonly DEMO_CONFIGURATION?: Config;
  readonly DEMO_ACCESS_TOKEN?: string;
}

async function probe(key: string): Promise<void> {
  const connector = await findConnector(key);
  if (!values.simulator)
    return measure(connect(connector, { config: readSettings(connector), onExchange: keep }), connector);
  const folder = resolve(values.folder ?? join(OWN_CONNECTORS, key));
  const module: Module = await import(pathToFileURL(join(folder, 'simulator.ts')).href);
  if (module.createSimulator === undefined) throw new Error(`${folder}/simulator.ts exports no createSimulator.`);
  const { simulatorsUrl, stop } = await serveSimulator(key, module.createSimulator);
  const token = module.DEMO_ACCESS_TOKEN;
  const config = { ...module.DEMO_CONFIGURATION, ...(token !== undefined && { 'oauth.user.token': token }) };
  await measure(connect(connector, { config, simulatorsUrl, onExchange: keep }), connector).finally(stop);
}

/** Returns the connector of a key. @throws Error if there is none */
async function findConnector(key: string): Promise<Connector> {
  if (values.folder !== undefined) {
    const module: { readonly default?: Connector } = await import(
      pathToFileURL(resolve(values.folder, 'index.ts')).href
    );
    if (module.default?.key === key) return module.default;
    throw new Error(`${values.folder} has no connector '${key}'.`);
  }
  const { CONNECTORS_PATH = '', CONNECTORS = '' } = process.env;
  const split = (text: string, separator: string) => text.split(separator).filter((each) => each !== '');
  const folders = [OWN_CONNECTORS, ...split(CONNECTORS_PATH, delimiter)];
  const connectors = await loadConnectors({ folders, packages: split(CONNECTORS, ',') });
  const connector = connectors.find((each) => each.key === key);
  if (connector === undefined)
    throw new Error(`There is no connector '${key}'. Use one of ${connectors.map((each) => each.key).join(', ')}.`);
  return connector;
}

const OAUTH_KEYS = ['oauth.user.token'];

/** Reads the configuration from environment variables. @throws Error that names every missing variable */
function readSettings({ configuration, auth }: Connector): Config {
  const fields = [
    ...configuration,
    ...(auth.type === 'oauth2' ? OAUTH_KEYS.map((key) => ({ key, type: 'string', required: true }) as const) : []),
  ];
  const given = fields.map((field) => ({
    ...field,
    name: variableOf(field.key),
    text: process.env[variableOf(field.key)],
  }));
  const missing = given.filter(({ required, text }) => required === true && text === undefined);
  if (missing.length > 0) throw new Error(`Set ${missing.map(({ name }) => name).join(', ')}.`);
  return Object.fromEntries(
    given.flatMap(({ key, type, text }) => (text === undefined ? [] : [[key, typed(type, text)]])),
  );
}

function variableOf(key: string): string {
  return `PROBE_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

function typed(type: string, text: string): string | number | boolean {
  if (type === 'boolean') return text === 'true';
  return type === 'number' ? Number(text) : text;
}

let fixtures: Fixture[] = [];

function keep(...exchange: Parameters<typeof scrub>): void {
  fixtures.push(scrub(...exchange));
}

async function measure(connection: Connection, connector: Connector): Promise<void> {
  await connection.context.send(connector.probe);
  await writeFixtures('probe');
  const { objects } = await connection.discover();
  await writeFixtures('objects');
  console.log('| object | field | operator | declared | measured |\n| --- | --- | --- | --- | --- |');
  for (const [name, object] of Object.entries(objects)) {
    if (object.list === undefined || (object.requiredFilters ?? []).length > 0) continue;
    const most = Number(values.rows);
    const fields = Object.keys(object.fields).filter((field) => object.fields[field]?.onDemand !== true);
    const { rows } = await takeRows(connection, object, { fields, most });
    await writeFixtures(name);
    const options = { literals: Number(values.literals), rows: most };
    for (const each of await measureObject(connection, { name, object, rows }, options)) print(each);
    fixtures = [];
  }
}

/** Prints a measured operator. Operators that are neither declared nor possible are left out. */
function print({ object, field, operator, declared, found }: Measured): void {
  if (declared === undefined && (found === 'none' || found === 'refused')) return;
  const mark = declared !== undefined && declared !== found ? ' ← differs' : '';
  console.log(`| ${object} | ${field} | \`${operator}\` | ${declared ?? '–'} | ${found}${mark} |`);
}

async function writeFixtures(name: string): Promise<void> {
  if (values.out !== undefined) {
    // Names of objects can be paths.
    const file = join(values.out, `${name}.json`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(fixtures, undefined, 2)}\n`);
  }
  fixtures = [];
}

try {
  await probe(positionals[0] ?? '');
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 1;
}
