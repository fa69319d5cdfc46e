import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Config, Connector, ObjectSpec } from '#connector';
import { type Call, Fault, json, simulate } from '#connector/simulator';
import type { Fixture } from './scrub.ts';
import { type CreateSimulator, connect, normalise, type Row, serveSimulator } from './testing.ts';

/** Exchanges by the name of their object, as `npm run probe -- <key> --out <folder>` writes them. */
export type Recordings = Readonly<Record<string, readonly Fixture[]>>;

export interface Recorded {
  readonly connector: Connector;
  readonly recordings: Recordings;
  readonly configuration: Config;
}

/**
 * Tests a connector on recorded answers of the real provider, without a simulator: each object that was recorded is listed once more.
 * Only for connectors whose objects are fixed: in a recorded description every name is scrubbed.
 */
export function describeRecorded(connector: Connector, folder: string, configuration: Config): void {
  describe(`${connector.key} reads what its provider answered`, () => {
    it('asks for what was recorded, and finds rows with values of the declared types', async () => {
      const faults = await findRecordedFaults({ connector, recordings: await readRecordings(folder), configuration });
      if (faults.length > 0) throw new Error(faults.join('\n'));
    });
  });
}

async function readRecordings(folder: string): Promise<Recordings> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
  const entries = files.map(async (file): Promise<[string, readonly Fixture[]]> => {
    return [basename(file, '.json'), JSON.parse(await readFile(join(folder, file), 'utf8'))];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns what does not fit between a connector and the answers that its provider gave. */
export async function findRecordedFaults(recorded: Recorded): Promise<readonly string[]> {
  const { connector, recordings } = recorded;
  const objects = typeof connector.objects === 'function' ? undefined : connector.objects;
  if (objects === undefined) return [`${connector.key} discovers its objects, which recorded answers cannot describe.`];
  const names = Object.keys(objects).filter((name) => recordings[name]?.length);
  if (names.length === 0) return [`No object of ${connector.key} was recorded: run the probe with --out.`];
  const faults = names.map((name) => replay(recorded, name, objects[name]));
  return (await Promise.all(faults)).flat();
}

/** Parts of a list may be empty. */
const MOST_PARTS = 50;

async function replay(recorded: Recorded, name: string, object: ObjectSpec | undefined): Promise<readonly string[]> {
  if (object?.list === undefined) return [`${name} was recorded, and cannot be listed.`];
  const { connector, configuration: config } = recorded;
  const provider = await serveSimulator(connector.key, createRecorded(recorded, recorded.recordings[name] ?? []));
  try {
    const connection = connect(connector, { config, simulatorsUrl: provider.simulatorsUrl });
    for (let cursor: string | undefined, part = 0; part < MOST_PARTS; part++) {
      const { records, next } = await connection.list(object, { limit: object.list.maxPageSize ?? 100, cursor });
      if (records.length > 0) return records.flatMap((record) => faultsIn(name, object, normalise(object, record)));
      if (next === undefined) break;
      cursor = next;
    }
    return [`${name}: no row was read of the recorded answers.`];
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : error}`];
  } finally {
    await provider.stop();
  }
}

/** A provider that has nothing but its recorded answers, each once and the last again. */
function createRecorded({ connector, configuration }: Recorded, fixtures: readonly Fixture[]): CreateSimulator {
  const base = new URL(connector.baseUrl(configuration)).pathname;
  const asked = new Map<string, number>();
  const pathOf = (path: string) => path.replaceAll(/\d/g, '1').replace(/\/+$/, '');
  const answer = ({ method, path, query }: Call) => {
    const names = [...query.keys()];
    const key = `${method} ${path}?${names}`;
    const fitting = fixtures.filter(
      ({ request }) =>
        (request.method ?? 'GET') === method &&
        pathOf(base.replace(/\/$/, '') + (request.path ?? '')) === pathOf(path) &&
        names.every((name) => Object.hasOwn(request.query ?? {}, name)),
    );
    const times = asked.get(key) ?? 0;
    asked.set(key, times + 1);
    const { response } = fitting[Math.min(times, fitting.length - 1)] ?? {};
    if (response === undefined) throw new Fault(501, 'NOT_RECORDED', `${key} was not recorded.`);
    const headers = Object.entries(response.headers).map(([header, value]): [string, string] => [
      header,
      String(value),
    ]);
    return json(response.body, response.status, Object.fromEntries(headers));
  };
  const routes = { 'GET /{path*}': answer, 'POST /{path*}': answer };
  return (options) => simulate({ routes, print: ({ status, message }) => json({ message }, status) }, options);
}

const IS_OF_TYPE: Readonly<Record<ObjectSpec['fields'][string]['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => /^-?\d+$/.test(String(value)),
  number: (value) => !Number.isNaN(Number(value)),
  boolean: (value) => typeof value === 'boolean',
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  datetime: (value) => /^\d{4}-\d\d-\d\dT/.test(String(value)),
  array: Array.isArray,
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};

function faultsIn(name: string, { fields, idField = 'id' }: ObjectSpec, row: Row): readonly string[] {
  return Object.entries(fields).flatMap(([field, { type, onDemand, unlisted }]) => {
    const value = field.split('.').reduce<unknown>((found, member) => Object(found ?? {})[member], row) ?? null;
    if (value === null)
      return field === idField && fields[idField] !== undefined ? [`${name} has a row without ${field}.`] : [];
    if (onDemand === true || unlisted === true || IS_OF_TYPE[type](value)) return [];
    return [`${name}.${field} is ${JSON.stringify(value)}, which is no ${type}.`];
  });
}
