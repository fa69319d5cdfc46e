import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config, Connector, ObjectSpec } from '#connector';
import { type Clock, SYSTEM_CLOCK } from '../../src/clock.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import type {
  Definition,
  Level,
  MappedType,
  MappingInForce,
  MappingsInForce,
  Transformation,
} from '../../src/mappings/model.ts';
import type { ConnectedInstance } from '../../src/resources/call.ts';
import type { composeResources } from '../../src/resources/index.ts';
import type { Row } from '../../src/where/index.ts';
import { type CreateSimulator, serveSimulator } from '../../suite/served.ts';
import { createSimulatedResources } from '../../suite/simulated-resources.ts';
import { withDefaults } from '../../suite/testing.ts';
import { changeObjects } from '../support/changed-objects.ts';

/** Instances on simulators with mappings, on the normalised calls of the service, without its database and its API. */

/** The texts of a query. Without a page size, pages are as large as possible. */
export interface Asked {
  readonly where?: string;
  readonly orderBy?: string;
  readonly fields?: string;
  readonly pageSize?: number;
}

/** The records of an object of an instance. */
export interface Records {
  readonly object: () => Promise<ObjectSpec>;
  /** Lists all rows of a query. */
  readonly list: (asked?: Asked) => Promise<readonly Row[]>;
  /** Lists all rows of a query, page by page. */
  readonly pages: (asked: Asked) => Promise<readonly (readonly Row[])[]>;
  readonly get: (id: string) => Promise<Row>;
  readonly create: (body: Row) => Promise<Row>;
  readonly update: (id: string, body: Row) => Promise<Row>;
}

/** An instance on a simulator. */
export interface Simulated {
  readonly connector: Connector;
  /** Sets the mappings in force. */
  readonly map: (mappings: readonly MappingInForce[]) => void;
  /** Returns the records of an object. */
  readonly records: (objectName: string) => Records;
  /** Returns the records of an object of the provider, without mappings. */
  readonly vendor: (objectName: string) => Records;
  /** Returns the records of an object of the same instance, whose provider accepts no filters. */
  readonly unfiltered: (objectName: string) => Records;
  /** Returns the names of the objects of the provider. */
  readonly objectNames: () => Promise<readonly string[]>;
  /** Restores the initial data. */
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
}

const LARGEST_PAGE = 5000;
/** Maximum number of provider calls for one page. */
const MOST_CALLS = 2000;

const NOTHING_MAPPED: MappingsInForce = { version: '', byName: new Map(), unmapped: [] };
const INSTANCES = { mapped: 1, vendor: 2, unfiltered: 3 };

/** Starts the simulator of a connector, with an instance on its demo account. */
export async function startSimulated(key: string): Promise<Simulated> {
  const { connector, createSimulator, config: given } = await load(key);
  const { simulatorsUrl, reset, stop } = await serveSimulator(key, createSimulator);
  const config = { ...withDefaults(connector, given), simulator: true };
  let current: MappingsInForce = NOTHING_MAPPED;
  const retryClock: Clock = { ...SYSTEM_CLOCK, after: (_ms, call) => SYSTEM_CLOCK.after(0, call) };
  const resources = createSimulatedResources(
    { config, simulatorsUrl, clock: SYSTEM_CLOCK, retryClock },
    {
      inForce: async ({ id }) => (id === INSTANCES.vendor ? NOTHING_MAPPED : current),
      sandbox: { run: async () => [] },
    },
  );
  const instance: ConnectedInstance = {
    ...{ accountId: 1, id: INSTANCES.mapped, settingsVersion: 1, connector, config },
    ...{ disabled: false, valid: true, refusedCalls: [] },
  };
  const { signal } = new AbortController();
  const recordsOf = (of: ConnectedInstance) => (objectName: string) =>
    createRecords(resources, { instance: of, objectName, signal });
  return {
    connector,
    map: (mappings) => {
      const byName = new Map(mappings.map((mapping) => [mapping.objectName, mapping]));
      current = { version: mappings.map(({ version }) => version).join(), byName, unmapped: [] };
    },
    records: recordsOf(instance),
    vendor: recordsOf({ ...instance, id: INSTANCES.vendor }),
    unfiltered: recordsOf({ ...instance, id: INSTANCES.unfiltered, connector: withoutFilters(connector) }),
    objectNames: async () => {
      const { objects } = await resources.listObjects({ instance: { ...instance, id: INSTANCES.vendor }, signal });
      return Object.keys(objects);
    },
    reset,
    stop,
  };
}

function createRecords(
  resources: ReturnType<typeof composeResources>,
  target: { readonly instance: ConnectedInstance; readonly objectName: string; readonly signal: AbortSignal },
): Records {
  const pages: Records['pages'] = async ({ pageSize = LARGEST_PAGE, ...asked }) => {
    const found: (readonly Row[])[] = [];
    for (let nextPage: string | undefined; ; ) {
      const paging = { pageSize, nextPage, maxProviderCalls: MOST_CALLS, pushdownOnly: false };
      const page = await resources.listRecords(target, { ...asked, ...paging });
      found.push(page.records);
      nextPage = page.nextPage;
      if (nextPage === undefined) return found;
    }
  };
  return {
    object: () => resources.getObject(target),
    pages,
    list: async (asked = {}) => (await pages(asked)).flat(),
    get: async (id) => (await resources.getRecord(target, id)).record,
    create: async (body) => (await resources.createRecord(target, body)).record,
    update: async (id, body) => (await resources.updateRecord(target, id, body)).record,
  };
}

interface Loaded {
  readonly connector: Connector;
  readonly createSimulator: CreateSimulator;
  readonly config: Config;
}

/** With OAuth, the configuration has an access token that is valid without a log-in. */
async function load(key: string): Promise<Loaded> {
  const importFrom = (file: string) => import(pathToFileURL(join(OWN_CONNECTORS, key, file)).href);
  const [{ default: connector }, simulator] = await Promise.all([importFrom('index.ts'), importFrom('simulator.ts')]);
  const { createSimulator, DEMO_CONFIGURATION, DEMO_ACCESS_TOKEN: token } = simulator;
  const config = token === undefined ? DEMO_CONFIGURATION : { ...DEMO_CONFIGURATION, 'oauth.user.token': token };
  return { connector, createSimulator, config };
}

/** Returns a connector whose provider accepts no filters, so that the core checks all of them. */
function withoutFilters(connector: Connector): Connector {
  return changeObjects(connector, ({ translator: _, shape: __, changes: ___, ...object }) => {
    const fields = Object.entries(object.fields).map(
      ([name, { filter: ____, likeForms: _____, likeExcept: ______, ...spec }]) => [name, spec],
    );
    return { ...object, fields: Object.fromEntries(fields) };
  });
}

/** A mapping as a test writes it. */
export interface WrittenMapping extends Omit<Transformation, 'script'> {
  /** The types of the fields that do not name one. */
  readonly definition?: Definition['fields'];
}

const LEVEL: Level = 'organization';
let lastVersion = 0;

/** Returns a mapping as it would be in force. */
export function inForceOf({ objectName, vendorName, fields, configuration = [], definition }: WrittenMapping) {
  const named =
    definition ?? fields.map(({ path, type = 'string' }): { path: string; type: MappedType } => ({ path, type }));
  const mapping: MappingInForce = {
    version: `${++lastVersion}`,
    objectName,
    vendorName,
    level: LEVEL,
    definition: named.map((field) => ({ ...field, level: LEVEL })),
    fields: fields.map((field) => ({ ...field, level: LEVEL })),
    configuration,
  };
  return mapping;
}
