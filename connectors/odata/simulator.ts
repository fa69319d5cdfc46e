import {
  type Answer,
  basic,
  type Call,
  type Changeable,
  changesOf,
  createMovableClock,
  empty,
  type Fault,
  json,
  type MovableClock,
  type RouteHandler,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type Table,
  type TableRow,
  xml,
} from '#connector/simulator';
import { type Address, addressOf, type Key, readAddress } from './simulator/address.ts';
import type { Collation } from './simulator/condition.ts';
import { createBroker } from './simulator/events.ts';
import { printMetadata } from './simulator/metadata.ts';
import { problem } from './simulator/problem.ts';
import type { Quirks } from './simulator/quirks.ts';
import { type Options, queryRows, readOptions, selectProperties } from './simulator/read.ts';
import { createTables, keyOf, type Tables } from './simulator/rows.ts';
import { type EntitySchema, SETS } from './simulator/schema.ts';
import { completeRow, readBody } from './simulator/write.ts';

/**
 * An OData 4.0 service in memory, at `/odata/v4/shop`, and the same at `/odata/v4/private` behind basic authentication
 * (`demo`, `demo-password`). It follows the specification where real services are lenient: unknown properties and options,
 * types that do not compare, and changes without If-Match are refused.
 */
export interface ODataSimulatorOptions extends SimulatorOptions {
  /** Most rows in one answer; without it only `Prefer: odata.maxpagesize` makes pages. */
  readonly maxPageSize?: number;
  readonly links?: 'absolute' | 'relative';
  readonly collation?: Collation;
  /** Answers changes without the record, as `Prefer: return=minimal` would. */
  readonly answersChanges?: 'with record' | 'without record';
  readonly quirks?: Quirks;
}

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { 'base.url': 'https://demo.example.com/odata/v4/shop' };

/** A request, and the service it is for. */
interface Service {
  readonly call: Call;
  readonly tables: Tables;
  readonly settings: ODataSimulatorOptions;
  /** The service root as the client sees it. */
  readonly root: string;
  readonly options: Options;
}

export function createSimulator(settings: ODataSimulatorOptions): Simulator {
  const { quirks = {} } = settings;
  const clock = createMovableClock();
  const broker = createBroker(settings.send, clock);
  const tables = createTables(broker.tell);
  const isDemo = basic('demo', ({ username, password }) => username === 'demo' && password === 'demo-password');
  const answer: RouteHandler = (call) => {
    const { service = '', address = '' } = call.params;
    if (quirks.refusesSlashes && /%2f|%5c/i.test(call.path)) throw problem(400, 'Bad Request');
    const root = `${call.origin}/odata/v4/${service}`;
    return route({ call, tables, settings, root, options: readOptions(call) }, readAddress(address));
  };
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const templates = ['/odata/v4/{service}', '/odata/v4/{service}/{address*}'];
  return simulate(
    {
      print,
      headers: { 'odata-version': '4.0' },
      authenticate: (call) => {
        const [, service, rest = ''] = /^\/odata\/v4\/(shop|private)(?:\/(.*))?$/s.exec(call.path) ?? [];
        if (service === undefined) throw problem(404, `There is no service at '${call.path}', but at /odata/v4/shop.`);
        const isShown = service === 'shop' || (quirks.showsDocuments && /^(?:\$metadata)?$/.test(rest));
        if (!isShown) isDemo(call);
      },
      routes: Object.fromEntries(
        templates.flatMap((template) => methods.map((method) => [`${method} ${template}`, answer])),
      ),
      clock,
      commands: { ...broker.commands, ...changesOf(changeables(tables, clock)) },
    },
    settings,
  );
}

function changeables(tables: Tables, clock: MovableClock): Readonly<Record<string, Changeable>> {
  const [table, entity] = [tables.get('Products'), SETS.Products];
  if (table === undefined || entity === undefined) return {};
  const stamp = () => ({ ChangedAt: new Date(clock.now()).toISOString() });
  return {
    Products: {
      table,
      keyOf: ({ Id }) => String(Id),
      create: () => completeRow(entity, { Name: 'New', ...stamp() }, table.rows()),
      change: (number) => ({ Description: `Changed ${number}`, ...stamp() }),
    },
  };
}

const TYPE = { 'content-type': 'application/json;odata.metadata=minimal' };

function print({ status, message, headers }: Fault): Answer {
  return json({ error: { code: String(status), message } }, status, { ...headers, ...TYPE });
}

function route(service: Service, address: Address): Answer {
  const { method } = service.call;
  if (address.kind === 'set' && method === 'GET') return page(setOf(service, address.set));
  if (address.kind === 'set') return createIn(setOf(service, address.set));
  if (address.kind === 'entity' && method !== 'GET') return changeEntity(setOf(service, address.set), address.key);
  if (method !== 'GET') throw problem(405, `${method} is not supported here.`);
  if (address.kind === 'metadata') return xml(printMetadata());
  if (address.kind === 'collection') return listRelated(service, address);
  if (address.kind === 'entity') {
    const set = setOf(service, address.set);
    return json(printEntity(set, getRow(set, address.key)), 200, TYPE);
  }
  const value = Object.keys(SETS).map((name) => ({ name, kind: 'EntitySet', url: name }));
  return json({ '@odata.context': `${service.root}/$metadata`, value }, 200, TYPE);
}

/** A set that a request is about. */
interface EntitySet {
  readonly service: Service;
  readonly name: string;
  readonly entity: EntitySchema;
  readonly table: Table;
}

function setOf(service: Service, name: string): EntitySet {
  const [entity, table] = [SETS[name], service.tables.get(name)];
  if (entity !== undefined && table !== undefined) return { service, name, entity, table };
  throw problem(404, `Resource not found for the segment '${name}'.`);
}

function getRow({ table, entity }: EntitySet, key: Key): TableRow {
  const row = table.find(keyOf(entity, Object.fromEntries(key)));
  if (row === undefined) throw problem(404, 'There is no such entity.');
  return row;
}

function listRelated(
  service: Service,
  { set: name, key, name: path }: Extract<Address, { kind: 'collection' }>,
): Answer {
  const parent = setOf(service, name);
  const navigation = parent.entity.collections?.[path];
  if (navigation === undefined) throw problem(404, `'${name}' has no '${path}'.`);
  const id = getRow(parent, key)[parent.entity.key[0] ?? ''];
  return page(setOf(service, navigation.set), (row) => row[navigation.by] === id);
}

function page(set: EntitySet, belongs: (row: TableRow) => boolean = () => true): Answer {
  const { service, name, entity, table } = set;
  const { call, options, settings, root } = service;
  const { quirks = {}, collation = 'binary', maxPageSize: most = Number.POSITIVE_INFINITY } = settings;
  const preferred = Number(
    /odata\.maxpagesize=(\d+)/.exec(String(call.headers.prefer))?.[1] ?? Number.POSITIVE_INFINITY,
  );
  if (quirks.failsOnPageSizeBesideTop && Number.isFinite(preferred) && options.has('$top')) {
    throw problem(500, 'Internal Server Error');
  }
  const { isStuck } = call;
  const maxPageSize = Math.min(preferred, most);
  const found = queryRows(table.rows().filter(belongs), { entity, options, maxPageSize, collation, quirks, isStuck });
  const body = {
    '@odata.context': `${root}/$metadata#${name}`,
    ...(options.get('$count') === 'true' && { '@odata.count': found.count }),
    ...(found.skipToken !== undefined && { '@odata.nextLink': nextLink(service, found.skipToken) }),
    value: found.rows.map((row) => printRow(set, row)),
  };
  return json(body, 200, TYPE);
}

function nextLink({ call, options, root, settings }: Service, skipToken: number): string {
  const query = [...options]
    .filter(([name]) => name !== '$skiptoken')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  const link = `${call.params.address}?${query.join('')}$skiptoken=${skipToken}`;
  return settings.links === 'relative' ? link : `${root}/${link}`;
}

function assertChangeable({ entity, name }: EntitySet): void {
  if (entity.readOnly === true) throw problem(405, `'${name}' cannot be changed.`);
}

function createIn(set: EntitySet): Answer {
  const { method } = set.service.call;
  assertChangeable(set);
  if (method !== 'POST') throw problem(405, `${method} is not supported for a set.`);
  return create(set, bodyOf(set));
}

function changeEntity(set: EntitySet, key: Key): Answer {
  const { entity, table, service } = set;
  const { upserts } = service.settings.quirks ?? {};
  const { method, headers } = service.call;
  assertChangeable(set);
  const id = keyOf(entity, Object.fromEntries(key));
  const row = table.find(id);
  const condition = headers['if-match'];
  if (entity.guarded === true && condition === undefined) throw problem(428, 'If-Match is required.');
  if (row === undefined && method === 'DELETE') throw problem(404, 'There is no such entity.');
  if (row === undefined && condition !== undefined && upserts === undefined)
    throw problem(412, 'There is no entity that matches If-Match.');
  if (method === 'DELETE') {
    table.remove(id);
    return empty();
  }
  const body = bodyOf(set);
  const given = { ...body, ...keyValues(entity, key) };
  // A change of what does not exist creates it. Source: OData Protocol 4.01, section 11.4.4.
  if (row === undefined) return create(set, upserts === 'under a key of its own' ? body : given);
  const changed = table.update(id, method === 'PUT' ? completeRow(entity, given, table.rows()) : given) ?? row;
  return changeAnswer(set, changed, 200);
}

function keyValues(entity: EntitySchema, key: Key): TableRow {
  const isText = (name: string) => !entity.properties[name]?.type.startsWith('Edm.Int');
  return Object.fromEntries([...key].map(([name, value]) => [name, isText(name) ? value : Number(value)]));
}

function bodyOf({ service, entity }: EntitySet): TableRow {
  const { headers, body } = service.call;
  if (body.type !== 'application/json') throw problem(415, `'${body.type}' is not supported.`);
  return readBody(entity, body.json(), /IEEE754Compatible=true/i.test(String(headers['content-type'])));
}

function create(set: EntitySet, given: TableRow): Answer {
  const { entity, table, service } = set;
  const row = completeRow(entity, given, table.rows());
  if (table.find(keyOf(entity, row)) !== undefined) throw problem(409, 'There is an entity with this key already.');
  if (service.settings.quirks?.hidesCreated !== true) table.insert(row);
  return changeAnswer(set, row, 201);
}

function changeAnswer(set: EntitySet, row: TableRow, status: 200 | 201): Answer {
  const { call, root, settings } = set.service;
  const location = `${root}/${addressOf(set.name, set.entity, row)}`;
  const headers: Answer['headers'] = status === 201 ? { location, 'odata-entityid': location } : {};
  const prefers = /return=(\w+)/.exec(String(call.headers.prefer))?.[1];
  const isMinimal = settings.answersChanges === 'without record' || prefers === 'minimal';
  return isMinimal ? empty(204, headers) : json(printEntity(set, row), status, { ...headers, ...TYPE });
}

function printEntity(set: EntitySet, row: TableRow): TableRow {
  return { '@odata.context': `${set.service.root}/$metadata#${set.name}/$entity`, ...printRow(set, row) };
}

function printRow({ service, entity }: EntitySet, row: TableRow): TableRow {
  const { call, options, settings } = service;
  const asText = /IEEE754Compatible=true/i.test(String(call.headers.accept));
  const isKeptAsDouble = settings.quirks?.keepsDoubles === true;
  const printed = Object.entries(selectProperties(entity, row, options)).map(([name, value]) => {
    const { type = '' } = entity.properties[name] ?? {};
    const isNumber = !asText && /^Edm\.(Decimal|Int64)$/.test(type);
    const kept = isKeptAsDouble && value !== null && /^Edm\.(Decimal|Double)$/.test(type) ? inDouble(value) : value;
    return [name, isNumber && kept !== null ? Number(kept) : kept];
  });
  const etag = entity.guarded === true ? { '@odata.etag': `W/"${JSON.stringify(row).length}"` } : {};
  return { ...etag, ...Object.fromEntries(printed) };
}

function inDouble(value: unknown): unknown {
  const printed = Number(Number(value).toPrecision(15));
  return typeof value === 'number' ? printed : String(printed);
}
