import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, Connector, ConnectorContext, ObjectSpec } from '#connector';
import { type Fixture, scrubRequest } from './scrub.ts';
import { allFields, normalise, runIn, withDefaults } from './testing.ts';

/**
 * Tests a connector on recorded responses of its provider, for authors without a simulator. `npm run probe -- <key> --out <folder>` records
 * them. The tests prove that the connector sends the recorded requests and understands the responses. They can't prove which rows filters
 * and pages return, because values are not recorded. The connector must declare its objects, not discover them.
 */
export function describeRecorded(connector: Connector, folder: string, configuration: Config = {}): void {
  describe(`${connector.key} reads recorded responses`, () => {
    for (const [name, object] of Object.entries(recordable(connector))) {
      it(name, async () => {
        const { faults, unseen } = await readRecorded({ connector, configuration, name, object, folder });
        if (unseen.length > 0) console.log(`      note: no recorded row has ${unseen.join(', ')}`);
        if (faults.length > 0) throw new Error(faults.join('\n'));
      });
    }
  });
}

/**
 * Returns the objects that can be tested on recorded responses.
 * @throws Error for a connector that discovers its objects, because a recording does not keep the names in its metadata
 */
function recordable({ key, objects }: Connector): Readonly<Record<string, ObjectSpec>> {
  if (typeof objects === 'function') throw new Error(`${key} discovers its objects, so it needs a simulator.`);
  const listed = Object.entries(objects).filter(
    ([, { list, requiredFilters = [] }]) => list !== undefined && requiredFilters.length === 0,
  );
  return Object.fromEntries(listed);
}

/** A recorded object, and the connector that reads it. */
export interface RecordedObject {
  readonly connector: Connector;
  readonly configuration: Config;
  readonly name: string;
  readonly object: ObjectSpec;
  /** The folder that `npm run probe` wrote. */
  readonly folder: string;
}

/** The result of reading a recording. */
export interface RecordedFindings {
  readonly faults: readonly string[];
  /** Fields that no recorded row has: the provider renamed them, or they are null in all rows and left out. */
  readonly unseen: readonly string[];
}

/**
 * Lists the first recorded page of an object with the connector.
 * @throws Error if the object has no recording
 */
export async function readRecorded(recorded: RecordedObject): Promise<RecordedFindings> {
  const { connector, configuration, name, object, folder } = recorded;
  const fixtures: readonly Fixture[] = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));
  const config = withDefaults(connector, configuration);
  const context: ConnectorContext = { config, signal: new AbortController().signal, send: replay(fixtures) };
  const fields = allFields(object);
  const { list } = object;
  if (list === undefined) throw new Error(`${name} has no list.`);
  try {
    const input = { parameters: {}, fields, orderBy: [], limit: list.maxPageSize ?? 1 };
    const { records } = await runIn(context, list, input);
    const natives = records.map((record) => list.readRecord?.(record) ?? record);
    for (const native of natives) normalise(object, native, fields);
    if (natives.length === 0) return { faults: [`${name}: the recorded page has no row.`], unseen: [] };
    const unseen = fields.filter(
      ({ unlisted, native }) => unlisted !== true && !natives.some((row) => hasMember(row, native)),
    );
    const isNeeded = ({ name: field }: { readonly name: string }) => object.fields[field]?.nullable === false;
    return {
      faults: unseen
        .filter(isNeeded)
        .map((field) => `${name}.${field.name}: no recorded row has the member ${field.native}.`),
      unseen: unseen.map((field) => field.name),
    };
  } catch (error) {
    return { faults: [`${name}: ${error instanceof Error ? error.message : error}`], unseen: [] };
  }
}

/**
 * Returns for each request the next recorded response to the same method, path and parameters.
 * @throws Error if there is none
 */
function replay(fixtures: readonly Fixture[]): ConnectorContext['send'] {
  const left = [...fixtures];
  return async (request) => {
    const wanted = describeRequest(scrubRequest(request));
    const index = left.findIndex((fixture) => describeRequest(fixture.request) === wanted);
    const [found] = index < 0 ? [] : left.splice(index, 1);
    if (found !== undefined) return found.response;
    const others = [...new Set(left.map((fixture) => describeRequest(fixture.request)))];
    throw new Error(
      `The connector sends ${wanted}. The recording has responses to ${others.join(', ') || 'nothing more'}.`,
    );
  };
}

function describeRequest({ method = 'GET', path, query = {} }: Fixture['request']): string {
  return `${method} ${path}?${Object.keys(query).toSorted().join('&')}`;
}

/** Returns whether a row has the member, or the object that contains it. */
function hasMember(row: unknown, native: string): boolean {
  return Object.hasOwn(Object(row), native) || Object.hasOwn(Object(row), native.split('.')[0] ?? '');
}
