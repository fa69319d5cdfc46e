import {
  type Answer,
  basic,
  type Call,
  changesOf,
  empty,
  type Fault,
  type Handler,
  json,
  type Row,
  type Simulator,
  type SimulatorOptions,
  simulate,
  type Table,
  xml,
} from '#connector/simulator';
import { type Address, addressOf, type Key, readAddress } from './simulator/address.ts';
import type { Collation } from './simulator/condition.ts';
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

/** What a request needs beside itself. */
interface Service {
  readonly tables: Tables;
  readonly settings: ODataSimulatorOptions;
  /** The service root as the client sees it. */
  readonly root: string;
  readonly options: Options;
}

export function createSimulator(settings: ODataSimulatorOptions): Simulator {
  const { quirks = {} } = settings;
  const tables = createTables();
  const isDemo = basic('demo', ({ username, password }) => username === 'demo' && password === 'demo-password');
  const answer: Handler = (call) => {
    const { service = '', address = '' } = call.params;
    if (quirks.refusesSlashes && /%2f|%5c/i.test(call.path)) throw problem(400, 'Bad Request');
    const root = `${call.origin}/odata/v4/${service}`;
    return route(call, { tables, settings, root, options: readOptions(call) }, readAddress(address));
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
      commands: changesOf({
        Products: {
          table: tableOf(tables, 'Products'),
          keyOf: ({ Id }) => String(Id),
          create: (number) => ({ ...completeRow(entityOf('Products'), { Id: 100_000 + number, Name: 'New' }, []) }),
          change: (number) => ({ Description: `Changed ${number}` }),
        },
      }),
    },
    settings,
  );
}

const TYPE = { 'content-type': 'application/json;odata.metadata=minimal' };

function print({ status, message, headers }: Fault): Answer {
  return json({ error: { code: String(status), message } }, status, { ...headers, ...TYPE });
}

function route(call: Call, service: Service, address: Address): Answer {
  const isRead = call.method === 'GET';
  const { root, tables } = service;
  if (address.kind === 'set' && isRead) return page(call, service, address.set, tableOf(tables, address.set).rows());
  if (address.kind === 'set') return change(call, service, address.set);
  if (address.kind === 'entity' && !isRead) return change(call, service, address.set, address.key);
  if (!isRead) throw problem(405, `${call.method} is not supported here.`);
  if (address.kind === 'metadata') return xml(printMetadata());
  if (address.kind === 'collection') return listRelated(call, service, address);
  if (address.kind === 'entity') {
    const row = getRow(service, address.set, address.key);
    return json(printEntity(call, service, address.set, row), 200, TYPE);
  }
  const value = Object.keys(SETS).map((name) => ({ name, kind: 'EntitySet', url: name }));
  return json({ '@odata.context': `${root}/$metadata`, value }, 200, TYPE);
}

function listRelated(call: Call, service: Service, address: Extract<Address, { kind: 'collection' }>): Answer {
  const { set, key, name } = address;
  const navigation = entityOf(set).collections?.[name];
  if (navigation === undefined) throw problem(404, `'${set}' has no '${name}'.`);
  const id = getRow(service, set, key)[entityOf(set).key[0] ?? ''];
  const rows = tableOf(service.tables, navigation.set).rows();
  return page(
    call,
    service,
    navigation.set,
    rows.filter((row) => row[navigation.by] === id),
  );
}

function page(call: Call, service: Service, set: string, rows: readonly Row[]): Answer {
  const { options, settings, root } = service;
  const { quirks = {}, collation = 'binary', maxPageSize: most = Number.POSITIVE_INFINITY } = settings;
  const preferred = Number(
    /odata\.maxpagesize=(\d+)/.exec(String(call.headers.prefer))?.[1] ?? Number.POSITIVE_INFINITY,
  );
  if (quirks.failsOnPageSizeBesideTop && Number.isFinite(preferred) && options.has('$top')) {
    throw problem(500, 'Internal Server Error');
  }
  const { isStuck } = call;
  const maxPageSize = Math.min(preferred, most);
  const result = queryRows(rows, { entity: entityOf(set), options, maxPageSize, collation, quirks, isStuck });
  const body = {
    '@odata.context': `${root}/$metadata#${set}`,
    ...(options.get('$count') === 'true' && { '@odata.count': result.count }),
    ...(result.skipToken !== undefined && { '@odata.nextLink': nextLink(call, service, result.skipToken) }),
    value: result.rows.map((row) => printRow(call, service, set, row)),
  };
  return json(body, 200, TYPE);
}

function nextLink({ params }: Call, { options, root, settings }: Service, skipToken: number): string {
  const query = [...options]
    .filter(([name]) => name !== '$skiptoken')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  const link = `${params.address}?${query.join('')}$skiptoken=${skipToken}`;
  return settings.links === 'relative' ? link : `${root}/${link}`;
}

function change(call: Call, service: Service, set: string, key?: Key): Answer {
  const entity = entityOf(set);
  if (entity.readOnly === true) throw problem(405, `'${set}' cannot be changed.`);
  if (key !== undefined) return changeEntity(call, service, set, key);
  if (call.method !== 'POST') throw problem(405, `${call.method} is not supported for a set.`);
  return create(call, service, set, bodyOf(call, entity));
}

function changeEntity(call: Call, service: Service, set: string, key: Key): Answer {
  const { upserts } = service.settings.quirks ?? {};
  const entity = entityOf(set);
  const table = tableOf(service.tables, set);
  const id = keyOf(entity, Object.fromEntries(key));
  const row = table.find(id);
  const condition = call.headers['if-match'];
  if (entity.guarded === true && condition === undefined) throw problem(428, 'If-Match is required.');
  if (row === undefined && call.method === 'DELETE') throw problem(404, 'There is no such entity.');
  if (row === undefined && condition !== undefined && upserts === undefined)
    throw problem(412, 'There is no entity that matches If-Match.');
  if (call.method === 'DELETE') {
    table.remove(id);
    return empty();
  }
  const body = bodyOf(call, entity);
  const given = { ...body, ...keyValues(entity, key) };
  // A change of what does not exist creates it. Source: OData Protocol 4.01, section 11.4.4.
  if (row === undefined) return create(call, service, set, upserts === 'under a key of its own' ? body : given);
  const changed = table.update(id, call.method === 'PUT' ? completeRow(entity, given, table.rows()) : given) ?? row;
  return changeAnswer(call, service, set, { row: changed, status: 200 });
}

function keyValues(entity: EntitySchema, key: Key): Row {
  const isText = (name: string) => !entity.properties[name]?.type.startsWith('Edm.Int');
  return Object.fromEntries([...key].map(([name, value]) => [name, isText(name) ? value : Number(value)]));
}

function bodyOf({ headers, body }: Call, entity: EntitySchema): Row {
  if (body.type !== 'application/json') throw problem(415, `'${body.type}' is not supported.`);
  return readBody(entity, body.json(), /IEEE754Compatible=true/i.test(String(headers['content-type'])));
}

function create(call: Call, service: Service, set: string, given: Row): Answer {
  const entity = entityOf(set);
  const table = tableOf(service.tables, set);
  const row = completeRow(entity, given, table.rows());
  if (table.find(keyOf(entity, row)) !== undefined) throw problem(409, 'There is an entity with this key already.');
  if (service.settings.quirks?.hidesCreated !== true) table.insert(row);
  return changeAnswer(call, service, set, { row, status: 201 });
}

interface Changed {
  readonly row: Row;
  readonly status: 200 | 201;
}

function changeAnswer(call: Call, service: Service, set: string, { row, status }: Changed): Answer {
  const location = `${service.root}/${addressOf(set, entityOf(set), row)}`;
  const headers: Answer['headers'] = status === 201 ? { location, 'odata-entityid': location } : {};
  const prefers = /return=(\w+)/.exec(String(call.headers.prefer))?.[1];
  const isMinimal = service.settings.answersChanges === 'without record' || prefers === 'minimal';
  return isMinimal ? empty(204, headers) : json(printEntity(call, service, set, row), status, { ...headers, ...TYPE });
}

function printEntity(call: Call, service: Service, set: string, row: Row): Row {
  return { '@odata.context': `${service.root}/$metadata#${set}/$entity`, ...printRow(call, service, set, row) };
}

function printRow({ headers }: Call, { options, settings }: Service, set: string, row: Row): Row {
  const entity = entityOf(set);
  const asText = /IEEE754Compatible=true/i.test(String(headers.accept));
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

function entityOf(set: string): EntitySchema {
  const entity = SETS[set];
  if (entity === undefined) throw problem(404, `Resource not found for the segment '${set}'.`);
  return entity;
}

function tableOf(tables: Tables, set: string): Table {
  const table = tables.get(set);
  if (table === undefined) throw problem(404, `Resource not found for the segment '${set}'.`);
  return table;
}

function getRow({ tables }: Service, set: string, key: Key): Row {
  const row = tableOf(tables, set).find(keyOf(entityOf(set), Object.fromEntries(key)));
  if (row === undefined) throw problem(404, 'There is no such entity.');
  return row;
}
